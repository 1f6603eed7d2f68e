package api

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"onejob/jobs"
)

// Times of a server.
const (
	// storeTimeout bounds one verb, so that a store that is away is answered
	// with 503 within 5 s (design §7).
	storeTimeout = 4 * time.Second
	// pollEvery is how often a waiting request looks at its job although no
	// signal came; signals can be lost.
	pollEvery = 2 * time.Second
)

// Server is the HTTP API of one process. It is safe for concurrent use.
type Server struct {
	config  Config
	echo    *echo.Echo
	store   Store
	waker   Waker
	auth    Authenticator
	metrics *metrics
	mounts  map[string]Mounted // by prefix

	stopping chan struct{} // closed by Stop
	stop     sync.Once     // guards stopping
}

// New returns the API over store.
func New(config Config, store Store, waker Waker, authenticator Authenticator) *Server {
	s := newServer(config)
	s.store, s.waker, s.auth = store, waker, authenticator
	s.register(s.probes()...)
	s.register(s.documents()...)
	s.register(s.jobRoutes()...)
	if s.config.Reporter != nil {
		s.register(endpoint{http.MethodPost, "/v1/callbacks/:token", s.takeReport})
	}
	return s
}

// NewProbes returns a server of /healthz, /readyz and /metrics alone, for
// processes without an API. authenticator is asked unless config has OpenMetrics.
func NewProbes(config Config, authenticator Authenticator) *Server {
	s := newServer(config)
	s.auth = authenticator
	s.register(s.probes()...)
	return s
}

func newServer(config Config) *Server {
	s := &Server{config: config.withDefaults(), echo: echo.New(), stopping: make(chan struct{}), mounts: map[string]Mounted{}}
	s.metrics = newMetrics(s.config.Registry)
	s.echo.HTTPErrorHandler = s.answerError
	s.echo.Use(s.trace, s.observe, s.recoverPanics, secure)
	return s
}

// ServeHTTP answers one request. HEAD is answered wherever GET is (RFC 9110
// §9.3.2); net/http, which still knows the method, leaves the body out.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		r = r.Clone(r.Context())
		r.Method = http.MethodGet
		r.Header.Del("Accept") // an event stream would never end
	}
	s.echo.ServeHTTP(paced(w), r)
}

// Routes lists the calls that are served.
func (s *Server) Routes() []*echo.Route { return s.echo.Routes() }

// headerTimeout is how long a client may take for the head of a request, also of the
// first on a new connection.
const headerTimeout = 10 * time.Second

// HTTP returns a server for addr whose limits fit this API: a client has 10 s for its
// headers and 64 KiB (plus the 4 KiB net/http reads ahead), 40 s for the whole of a
// request, whether anybody reads it or not, and 2 minutes between two. There is no
// limit on how long an answer takes, because waits and event streams are long by
// design, but one on how slowly it is taken (pacedWriter). Its Shutdown ends them.
func (s *Server) HTTP(addr string) *http.Server {
	server := &http.Server{
		Addr:              addr,
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       headerTimeout + bodyTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.config.Log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(s.Stop)
	return server
}

// Stop ends all waits and event streams early; each is answered with what is
// known. Other requests go on.
func (s *Server) Stop() { s.stop.Do(func() { close(s.stopping) }) }

// wake hands wake-ups to those who queue them; the request does not wait for that.
func (s *Server) wake(ctx context.Context, wakes []jobs.Wake) {
	for _, w := range wakes {
		s.waker.Wake(ctx, w)
	}
}

// decided is the context of a verb that changes something. The caller may hang
// up: what he asked for is done all the same.
func decided(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}

// reading is the context of a look at the store.
func reading(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, storeTimeout)
}
