package hostile

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Clients that send a byte now and then lose their connection when the time for what
// they send is over, however many they are, and nobody else waits for them. Exact
// times, slow readers among them, are tested with a clock of their own in api
// (pace_test.go, slow_client_test.go). SLOW=1 in the environment plays also those that
// take the longest.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	s := startServer(t, keeping)
	s.works("before")
	base := s.holds()
	kinds := map[string]struct {
		start string
		drip  string
		least time.Duration // the server does not hang up before
		most  time.Duration
		long  bool
	}{
		"nothing at all":      {"", "", 9 * time.Second, 15 * time.Second, false},
		"head":                {"GET /v1/jobs HTTP/1.1\r\nHost: x\r\n", "X-A: b\r\n", 9 * time.Second, 15 * time.Second, false},
		"body":                {post(s.addr, ownKey, 100_000), " ", 29 * time.Second, 60 * time.Second, true},
		"body, chunked":       {chunkedPost(s.addr), "1\r\n \r\n", 29 * time.Second, 60 * time.Second, true},
		"body without key":    {post(s.addr, "nobody", 100_000), " ", 0, 60 * time.Second, true},
		"body nobody wants":   {fmt.Sprintf("GET /healthz HTTP/1.1\r\nHost: %s\r\nContent-Length: 100000\r\n\r\n", s.addr), " ", 0, 60 * time.Second, true},
		"form of the sign-in": {fmt.Sprintf("POST /dashboard/login HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10000\r\n\r\n", s.addr), "a", 29 * time.Second, 60 * time.Second, true},
		"report":              {fmt.Sprintf("POST /v1/callbacks/x HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", s.addr), " ", 29 * time.Second, 60 * time.Second, true},
	}
	const clients = 50 // of a kind
	var dripping sync.WaitGroup
	var mu sync.Mutex
	held := map[string][]time.Duration{}
	for name, kind := range kinds {
		if kind.long && os.Getenv("SLOW") == "" {
			continue
		}
		for range clients {
			dripping.Go(func() {
				took := drip(s.addr, kind.start, kind.drip, kind.most+30*time.Second)
				mu.Lock()
				defer mu.Unlock()
				held[name] = append(held[name], took)
			})
		}
	}
	s.works("meanwhile")
	dripping.Wait()
	for name, took := range held {
		for _, d := range took {
			require.GreaterOrEqual(t, d, kinds[name].least, name)
			require.Less(t, d, kinds[name].most, name)
		}
		t.Logf("%s: %d clients were held for up to %s", name, len(took), took[len(took)-1].Round(time.Second/10))
	}
	s.settlesAt(base)
	s.works("after")
}

func post(addr, key string, length int) string {
	return fmt.Sprintf("POST /v1/jobs HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nIdempotency-Key: slow\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", addr, key, length)
}

func chunkedPost(addr string) string {
	return fmt.Sprintf("POST /v1/jobs HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nIdempotency-Key: slow\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", addr, ownKey)
}

// drip sends start at once and then drip twice a second, until the server hangs up.
// It says how long that took.
func drip(addr, start, drip string, most time.Duration) time.Duration {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return 0
	}
	began, gone := time.Now(), make(chan struct{})
	_ = conn.SetDeadline(began.Add(most))
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, conn) // until it is closed
	}()
	_, _ = io.WriteString(conn, start)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-gone:
			_ = conn.Close()
			return time.Since(began)
		case <-tick.C:
			_, _ = io.WriteString(conn, drip) // the other side says when it is over
		}
	}
}
