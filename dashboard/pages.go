package dashboard

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
)

// Where the pages and asynqmon are served; each must be mounted there and below.
const (
	Root        = "/dashboard"
	MonitorRoot = "/monitor"
)

// storeTimeout bounds one look at the store, so that a page says within 5 s that the
// store is away.
const storeTimeout = 4 * time.Second

// Pages are the operators' pages. They are safe for concurrent use. Serve answers
// at Root, Monitor at MonitorRoot.
type Pages struct {
	cfg      Config
	sessions *sessions
	throttle *throttle
	mux      *http.ServeMux
	// inspector takes no context: ask it after something that does.
	inspector *asynq.Inspector
	full      *asynqmon.HTTPHandler
	read      *asynqmon.HTTPHandler // shows no buttons, and would refuse them

	streams  streams
	stopping chan struct{} // closed by Stop
	stop     sync.Once
}

// New returns the pages. Asynqmon's part makes connections of its own, which Close
// closes.
func New(cfg Config) *Pages {
	cfg = cfg.withDefaults()
	p := &Pages{
		cfg:       cfg,
		sessions:  &sessions{rdb: cfg.Redis, keys: cfg.Keys, most: cfg.Session, idle: cfg.Idle},
		throttle:  &throttle{rdb: cfg.Redis},
		mux:       http.NewServeMux(),
		inspector: asynq.NewInspectorFromRedisClient(cfg.Redis),
		stopping:  make(chan struct{}),
	}
	if cfg.Monitor != nil {
		p.full = asynqmon.New(asynqmon.Options{RootPath: MonitorRoot, RedisConnOpt: cfg.Monitor})
		p.read = asynqmon.New(asynqmon.Options{RootPath: MonitorRoot, RedisConnOpt: cfg.Monitor, ReadOnly: true})
	}
	p.register()
	return p
}

// Stop ends the live updates of every page. Other requests go on.
func (p *Pages) Stop() { p.stop.Do(func() { close(p.stopping) }) }

// Close stops the pages and closes asynqmon's connections. No request may be
// running any more.
func (p *Pages) Close() error {
	p.Stop()
	if p.full == nil {
		return nil
	}
	return errors.Join(p.full.Close(), p.read.Close())
}

// handler answers one request of somebody who is signed in. What it returns is
// answered with a page of its own (see answerError).
type handler func(v *visit) error

// route is one address below Root. Method and path are those of http.ServeMux.
type route struct {
	pattern string // "GET /providers"; below Root
	serve   handler
}

// routes are the addresses for people who are signed in. What is not a GET changes
// something: operators alone may ask for it, from a page of ours, with the token of
// their session.
func (p *Pages) routes() []route {
	return slices.Concat(
		p.jobRoutes(),
		p.providerRoutes(),
		p.storeRoutes(),
		p.auditRoutes(),
		p.taskRoutes(),
		[]route{
			{"GET /{$}", p.home},
			{"POST /logout", p.logout},
		},
	)
}

func (p *Pages) register() {
	p.mux.HandleFunc("GET "+Root+"/static/{name...}", serveAsset)
	p.mux.HandleFunc("GET "+Root+"/login", p.withErrors(p.showLogin))
	p.mux.HandleFunc("POST "+Root+"/login", p.withErrors(p.login))
	p.mux.HandleFunc("GET "+Root+"/stream", p.withErrors(p.stream))
	for _, route := range p.routes() {
		method, path, _ := strings.Cut(route.pattern, " ")
		p.mux.HandleFunc(method+" "+Root+path, p.withErrors(p.signedIn(route.serve)))
	}
	p.mux.HandleFunc(Root+"/", p.withErrors(p.signedIn(p.nothingHere)))
}

// Serve answers one request below Root, or returns a Refusal and answers nothing.
func (p *Pages) Serve(w http.ResponseWriter, r *http.Request) error {
	guardPage(w.Header())
	if r.URL.Path == Root { // ServeMux would redirect to Root/
		r = r.Clone(r.Context())
		r.URL.Path += "/"
	}
	a := &answer{ResponseWriter: w}
	p.mux.ServeHTTP(a, r)
	return a.refused
}

// signedIn lets in who has a session and may make the request.
func (p *Pages) signedIn(next handler) func(w http.ResponseWriter, r *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		s, err := p.session(r)
		switch {
		case errors.Is(err, errNoSession):
			return p.toLogin(w, r)
		case err != nil:
			return p.away("looking for a session", err)
		}
		v := &visit{Pages: p, w: w, r: r, session: s, who: s.who}
		if err := v.admit(); err != nil {
			return err
		}
		return next(v)
	}
}

// toLogin sends a browser to the login, and back here afterwards.
func (p *Pages) toLogin(w http.ResponseWriter, r *http.Request) error {
	switch {
	case r.Header.Get("HX-Request") != "":
		w.Header().Set("HX-Redirect", loginURLOf(r.Header.Get("HX-Current-URL")))
		w.WriteHeader(http.StatusUnauthorized)
		return nil
	case wantsPage(r):
		http.Redirect(w, r, loginURL(r), http.StatusSeeOther)
		return nil
	}
	return noSession(w)
}

func (p *Pages) nothingHere(*visit) error {
	return refuse("not-found", "There is no page at this address.")
}

// home is the page people see first.
func (p *Pages) home(v *visit) error { return v.redirect(navigation[0].Href) }

func reading(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, storeTimeout)
}

// decided is the context of a change. The browser may go away: what was asked for
// is done all the same.
func decided(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}
