package balancer

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/redistest"
)

// shop is onejob as it is deployed: two API processes and a worker on a real
// Redis, in front of a provider that keeps a ledger.
type shop struct {
	binary   string
	config   string
	provider *ledger
	addrs    [2]string
	apis     [2]*process
}

const shopConfig = `
redis: {url: "redis://%s/%d"}
providers:
  press: {type: http, url: "%s/print", timeout: 20s, deadline: 30s, concurrency: 20}
routes:
  print: {providers: [press]}
`

func openShop(t *testing.T) *shop {
	t.Helper()
	redis := redistest.Real(t).Options()
	s := &shop{
		binary: program.Onejob(t), provider: newLedger(t), config: filepath.Join(t.TempDir(), "onejob.yaml"),
		addrs: [2]string{freeAddr(t), freeAddr(t)},
	}
	config := fmt.Sprintf(shopConfig, redis.Addr, redis.DB, s.provider.url)
	require.NoError(t, os.WriteFile(s.config, []byte(config), 0o600))
	worker := freeAddr(t)
	s.run(t, "worker", worker)
	for i, addr := range s.addrs {
		s.apis[i] = s.run(t, "api", addr)
	}
	for _, addr := range append(s.addrs[:], worker) {
		answers(t, "http://"+addr+"/readyz", http.StatusOK)
	}
	return s
}

func (s *shop) run(t *testing.T, command, addr string) *process {
	t.Helper()
	return start(t, command+" at "+addr, []string{"ONEJOB_DEV_KEYS=1"}, s.binary, command, "--config", s.config, "--addr", addr)
}

// crash kills the first API process and starts it again at the same address.
func (s *shop) crash(t *testing.T) {
	t.Helper()
	s.apis[0].kill()
	s.apis[0] = s.run(t, "api", s.addrs[0])
}
