# One static binary in an empty image: no shell, no package manager, no root.
#
#   docker build -t onejob --build-arg VERSION=$(git describe --tags --always) .

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=devel
RUN CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /onejob ./cmd/onejob

FROM scratch
# Providers are called over TLS; an empty image trusts nobody.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /onejob /onejob
# By number, so that a cluster that wants non-root can see that it is.
USER 65532:65532
# Inside a container the loopback address reaches nobody. With no API key in
# Redis, `api` and `serve` refuse this address: make one first, see compose.yaml.
ENV ONEJOB_ADDR=0.0.0.0:8080 ONEJOB_CONFIG=/etc/onejob/onejob.yaml
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["/onejob", "doctor", "--process"]
# SIGTERM: claim nothing more, let calls finish until `drain`, then go.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/onejob"]
CMD ["serve"]
