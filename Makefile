# `make` alone lists what can be made, from the comments after the targets.

GOLANGCI_LINT_VERSION = 2.15.0
GOFUMPT_VERSION       = 0.12.0
GOVULNCHECK_VERSION   = 1.9.0

# How long `make test` may take, and one package of it.
TEST_LIMIT      ?= 15m
PACKAGE_LIMIT   ?= 14m
# What `make test` and `make cover` run: make test PACKAGES=./jobs
PACKAGES        ?= ./...
# How long `make fuzz` spends on each fuzz target.
FUZZ_TIME       ?= 30s
# How long `make soak` lasts, how many jobs a second it submits, which dice it uses
# (any), and where its samples go as lines of JSON (nowhere).
SOAK            ?= 30m
RATE            ?= 30
SEED            ?=
OUT             ?=
# How many jobs `make chaos` runs, and where its figures go as JSON; SEED repeats a run.
JOBS            ?= 5000
FIGURES         ?=
# How many times `make powercut` and `make failovers` do what they are called after.
CUTS            ?= 20
FAILOVERS       ?= 10
# How long the sequences of `make exhaustive` are, and how often `make crashes` repeats.
DEPTH           ?= 7
CRASHES         ?= 5
# How many requests `make hostile` sends.
REQUESTS        ?= 1000000
# What `onejob version` says of a binary made by `make build`.
VERSION         ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

TOOLS = $(CURDIR)/.tools
BUILD = CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"

.DEFAULT_GOAL := help
.PHONY: help build dev demo test check cover fuzz spec chaos powercut failovers exhaustive crashes mutant mutants soak bench guard clean hostile versions vuln
.PHONY: needs-go needs-strace needs-promtool needs-spin needs-balancers needs-redis needs-node needs-lua needs-golangci-lint needs-gofumpt

help: ## List what can be made (this list)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: needs-go ## Build ./onejob, a static binary
	$(BUILD) -o onejob ./cmd/onejob

dev: needs-go ## Run everything in one process with an embedded Redis
	go run ./cmd/onejob dev

demo: needs-go ## Play the four fractures in the terminal, in under 30 s
	go run ./cmd/onejob demo

test: needs-go needs-redis needs-node needs-balancers needs-chromium needs-spin needs-promtool needs-strace ## Install what the tests need and run them all, with -race (at most 15 minutes)
	go vet $(PACKAGES)
	CGO_ENABLED=1 go build -race $(PACKAGES)
	CGO_ENABLED=1 $(REQUIRED) $(LIMITED) go test -race -count=1 -timeout $(PACKAGE_LIMIT) $(QUICKLY) $(PACKAGES)

check: needs-go needs-golangci-lint needs-gofumpt needs-lua ## Lint, formatting, import direction, Lua, go.mod; installs its tools in .tools
	@unformatted=$$($(TOOLS)/gofumpt -l .); \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofumpt:"; echo "$$unformatted"; exit 1; fi
	$(TOOLS)/golangci-lint run ./...
	.ci/lua $(TOOLS)/lua
	go mod tidy -diff
	go mod verify
	@for script in .ci/* spec/all spec/search; do bash -n $$script; done

cover: needs-go needs-redis needs-node needs-balancers needs-chromium needs-spin needs-promtool needs-strace ## Run the tests and say how much of the code they reach
	$(REQUIRED) $(LIMITED) go test -timeout $(PACKAGE_LIMIT) -coverpkg=./... -coverprofile=cover.out $(PACKAGES)
	@go tool cover -func=cover.out | tail -n 1
	@echo "go tool cover -html=cover.out shows it line by line"

fuzz: needs-go ## Run every fuzz target for FUZZ_TIME (30s)
	@grep -rhoE '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' . | sort -u | grep -q . || echo "no fuzz targets"
	@for file in $$(grep -rlE '^func Fuzz' --include='*_test.go' .); do \
		for target in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' $$file); do \
			echo "$$target in $$(dirname $$file), $(FUZZ_TIME)"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZ_TIME) ./$$(dirname $$file) || exit 1; \
		done; \
	done

hostile: needs-go needs-redis ## Send a million hostile requests, and play slow and idle clients
	REQUESTS=$(REQUESTS) SLOW=1 ONEJOB_REQUIRE_REDIS=1 go test -count=1 -timeout 4h -v ./e2e/hostile

vuln: needs-go ## Look for known vulnerabilities in what the binary calls (needs vuln.go.dev)
	go run golang.org/x/vuln/cmd/govulncheck@v$(GOVULNCHECK_VERSION) ./...

spec: needs-spin ## Search the model of the protocol to the end (about 3 minutes, 3 GB)
	spec/all

chaos: needs-go needs-redis ## Kill, freeze and cut off all processes while JOBS (5000) run, and check what is left; SEED, FIGURES
	ONEJOB_REQUIRE_REDIS=1 ONEJOB_CHAOS_SEED=$(SEED) ONEJOB_CHAOS_JOBS=$(JOBS) ONEJOB_CHAOS_JSON=$(abspath $(FIGURES)) \
		go test -count=1 -v -timeout 0 -run 'TestChaos$$' ./e2e/chaos

powercut: needs-go needs-redis needs-strace ## Cut the power of Redis CUTS (20) times with appendfsync always, and with everysec; SEED
	CGO_ENABLED=1 ONEJOB_REQUIRE_REDIS=1 ONEJOB_REQUIRE_STRACE=1 ONEJOB_CUTS=$(CUTS) ONEJOB_SEED=$(SEED) \
		go test -race -count=1 -v -timeout 0 -run TestPowerCut ./e2e/powercut

failovers: needs-go needs-redis ## Lose the master of a Sentinel FAILOVERS (10) times under load; SEED
	CGO_ENABLED=1 ONEJOB_REQUIRE_REDIS=1 ONEJOB_FAILOVERS=$(FAILOVERS) ONEJOB_SEED=$(SEED) \
		go test -race -count=1 -v -timeout 0 -run TestSentinel ./e2e/sentinel

soak: needs-go needs-redis ## Run for SOAK (30m) with a kill every 30 s and see whether anything grows; RATE, SEED, OUT
	ONEJOB_REQUIRE_REDIS=1 ONEJOB_SOAK=$(SOAK) ONEJOB_SOAK_RATE=$(RATE) ONEJOB_SOAK_SEED=$(SEED) ONEJOB_SOAK_OUT=$(abspath $(OUT)) \
		go test -count=1 -v -timeout 0 -run TestSoak ./e2e/soak

exhaustive: needs-go needs-redis ## Compare the scripts with a model of them over every sequence of DEPTH (7) commands
	ONEJOB_REQUIRE_REDIS=1 ONEJOB_DEPTH=$(DEPTH) go test -count=1 -v -timeout 0 -run TestEverySequence ./jobs

mutant: needs-go needs-redis ## Take one rule out and see which test notices: make mutant M=e2e/mutants/slot.patch
	ONEJOB_REQUIRE_REDIS=1 go run ./e2e/mutants $(M)

mutants: needs-go needs-redis ## Take every rule out that has a patch in e2e/mutants, one at a time
	ONEJOB_REQUIRE_REDIS=1 go run ./e2e/mutants e2e/mutants/*.patch

crashes: needs-go needs-redis ## Let processes die, stop and fail at every crash point CRASHES (5) times
	ONEJOB_REQUIRE_REDIS=1 ONEJOB_CRASHES=$(CRASHES) go test -race -count=1 -v -timeout 0 -run TestCrash ./e2e/recovery

bench: needs-go needs-redis ## Measure onejob against its floors and write docs/performance.md (about 7 minutes, on a quiet machine)
	go run ./e2e/bench -write

guard: needs-go needs-redis ## Fail if the ratios of e2e/bench/guard.json have lost more than a quarter (2 minutes; more when something did)
	go run ./e2e/bench -guard e2e/bench/guard.json

versions: needs-go needs-redis ## Read the stored fixtures in both schemas, and roll two versions over each other
	ONEJOB_REQUIRE_REDIS=1 go test -count=1 -run TestRecords ./jobs
	ONEJOB_REQUIRE_REDIS=1 go test -count=1 -tags schema2 -run 'TestRecords|TestContract_LostReply' ./jobs
	CGO_ENABLED=1 ONEJOB_REQUIRE_REDIS=1 ONEJOB_VERSIONS=1 go test -race -count=1 ./e2e/versions

clean: ## Remove what make made here, its tools too
	rm -rf onejob cover.out .tools e2e/node/node_modules

# With these a test whose tool is missing fails instead of being skipped.
REQUIRED = ONEJOB_REQUIRE_REDIS=1 ONEJOB_REQUIRE_NODE=1 ONEJOB_REQUIRE_HAPROXY=1 ONEJOB_REQUIRE_NGINX=1 ONEJOB_REQUIRE_CHROMIUM=1 ONEJOB_REQUIRE_SPIN=1 ONEJOB_REQUIRE_PROMTOOL=1 ONEJOB_REQUIRE_STRACE=1

# What the targets need. Nothing is installed outside this directory but
# redis-server, haproxy, nginx, spin, promtool, strace, luac5.1 and luacheck, from the system's own packages.

# What was vetted is not vetted again, and nobody debugs the tests' own binaries.
QUICKLY = -vet=off -ldflags=-w

# timeout is in coreutils; where it is missing, go test's own limit remains.
LIMITED = $(shell command -v timeout >/dev/null && echo "timeout -k 10s $(TEST_LIMIT)")

needs-go:
	@command -v go >/dev/null || { echo "Go is missing: install the version that go.mod names, or newer."; exit 1; }

needs-redis:
	@.ci/packages redis-server redis-server
	@cc=$$(go env CC); command -v $${cc%% *} >/dev/null || { echo "a C compiler ($$cc) is missing: the race detector needs one."; exit 1; }

# The load balancers whose configuration is in deploy/.
needs-balancers:
	@.ci/packages haproxy haproxy
	@.ci/packages nginx nginx-light

# strace tells what of Redis's files was on the disk when the power went.
needs-strace:
	@.ci/packages strace strace

# Prometheus's own checker, for the alert rules in deploy/.
needs-promtool:
	@.ci/packages promtool prometheus

# spin makes a C program of the model in spec/, which does the searching.
needs-spin:
	@.ci/packages spin spin
	@.ci/packages cc gcc

# The operators' pages are looked at in a real browser.
needs-chromium:
	@.ci/packages chromium chromium

# The end-to-end tests talk to a server from npm that nobody here wrote.
needs-node:
	@if [ -f e2e/node/package-lock.json ]; then \
		command -v npm >/dev/null || { echo "node and npm are missing: the end-to-end tests talk to a server written in it. Install Node.js 20 or newer."; exit 1; }; \
		if [ ! -e e2e/node/node_modules/.package-lock.json ] || [ e2e/node/package-lock.json -nt e2e/node/node_modules/.package-lock.json ]; then \
			echo "npm ci in e2e/node"; cd e2e/node && npm ci --no-audit --no-fund --loglevel=error; \
		fi; \
	fi

needs-lua:
	@.ci/packages luac5.1 lua5.1
	@.ci/packages luacheck lua-check

needs-golangci-lint:
	@$(TOOLS)/golangci-lint version 2>/dev/null | grep -qF "version $(GOLANGCI_LINT_VERSION) " || { \
		echo "installing golangci-lint $(GOLANGCI_LINT_VERSION) in .tools"; \
		GOBIN=$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(GOLANGCI_LINT_VERSION); }

needs-gofumpt:
	@$(TOOLS)/gofumpt -version 2>/dev/null | grep -qF "v$(GOFUMPT_VERSION) " || { \
		echo "installing gofumpt $(GOFUMPT_VERSION) in .tools"; \
		GOBIN=$(TOOLS) go install mvdan.cc/gofumpt@v$(GOFUMPT_VERSION); }
