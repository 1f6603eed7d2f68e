package deploy_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"

	"onejob/app"
	"onejob/config"
)

// TestKubernetes_Probes: processes with the ConfigMap's configuration answer every
// probe of their pods, and the path of the metrics, at the port it names.
func TestKubernetes_Probes(t *testing.T) {
	t.Parallel()
	all := read(t)
	for name, kind := range map[string]app.Option{"api": app.WithAPI(), "worker": app.WithWorker()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := configuration(t, all, config.WithAddr("127.0.0.1:0"))
			cfg.Server.AdminAddr = "127.0.0.1:0"
			cfg.Drain = time.Second
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			a := app.New(cfg, kind, app.WithEmbeddedRedis(), app.WithDevKeys())
			require.NoError(t, a.Start(ctx))
			t.Cleanup(func() { require.NoError(t, a.Close()) })
			addresses := map[string]string{"http": a.Addr(), "admin": a.AdminAddr()}

			template := get[*apps.Deployment](t, all, "Deployment onejob-"+name).Spec.Template
			container := template.Spec.Containers[0]
			for _, probe := range []*core.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
				answers(ctx, t, addresses[probe.HTTPGet.Port.String()], probe.HTTPGet.Path)
			}
			require.Equal(t, "/healthz", container.LivenessProbe.HTTPGet.Path, "one that asks Redis restarts everything when Redis is away")
			require.Equal(t, "/readyz", container.ReadinessProbe.HTTPGet.Path)
			answers(ctx, t, addresses["admin"], template.Annotations["prometheus.io/path"])
		})
	}
}

func answers(ctx context.Context, t *testing.T, addr, path string) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, http.NoBody)
	require.NoError(t, err)
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode, path)
}
