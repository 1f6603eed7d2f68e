package contracts

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Reverifier verifies by itself, from time to time, so that a provider that has
// changed is noticed before a fail-over, and a good certificate does not expire.
// Many processes may run one: they take turns through the store.
type Reverifier struct {
	Book     *Book
	Store    *Store
	Verifier Verifier
	// Every is the pause between two verifications of a provider. A new process
	// waits for the rest of it, counted from the certificate's issue or the breach.
	Every time.Duration
	// Look is how often it looks whether one is due. Defaults to a tenth of Every,
	// at most a minute.
	Look time.Duration
	Runs int // defaults to 1
	Log  *slog.Logger
	// Observe is told of every report. May be nil.
	Observe func(*Report)
}

// Run verifies what is due until ctx ends. It returns nil then.
func (r Reverifier) Run(ctx context.Context) error {
	if r.Every <= 0 {
		return errors.New("verifying from time to time: no time is given")
	}
	look := r.Look
	if look <= 0 {
		look = max(min(r.Every/10, time.Minute), time.Second)
	}
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		r.round(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (r Reverifier) round(ctx context.Context) {
	for _, e := range r.Book.Entries("", "") {
		if ctx.Err() != nil {
			return
		}
		if err := r.one(ctx, e); err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "contract not verified", "route", e.Target.Route, "provider", e.Target.Provider, "error", err)
		}
	}
}

// one verifies an entry that is due. Taking the turn holds it for Every, also when
// the verification is inconclusive: a provider that is down is not called more
// often for it.
func (r Reverifier) one(ctx context.Context, e Entry) error {
	record, err := r.Store.Get(ctx, e.Pair())
	if err != nil || !due(record, e.Binding, r.Book.now(), r.Every) {
		return err
	}
	mine, err := r.Store.Turn(ctx, e.Pair(), e.Binding, r.Every)
	if err != nil || !mine {
		return err
	}
	report, err := r.Verifier.Run(ctx, e.Contract, e.Target, max(r.Runs, 1), nil)
	if err != nil {
		return err
	}
	if err := r.Store.Keep(ctx, report, r.Book.now()); err != nil {
		return err
	}
	log := r.Log.With("route", e.Target.Route, "provider", e.Target.Provider)
	switch breach := report.Breach(r.Book.now()); {
	case report.Certificate != nil:
		log.InfoContext(ctx, "contract verified", "certificate", report.Certificate.ID, "calls", report.Calls)
	case breach != nil:
		log.ErrorContext(ctx, "contract broken", "why", breach.Why, "calls", report.Calls)
	default:
		log.WarnContext(ctx, "contract verification inconclusive", "calls", report.Calls)
	}
	if r.Observe != nil {
		r.Observe(report)
	}
	return nil
}

// due: it was never verified as it is bound now, or not for so long.
func due(r Record, binding string, now time.Time, every time.Duration) bool {
	var last time.Time
	if c := r.Certificate; c != nil && c.Binding == binding {
		last = c.IssuedAt
	}
	if b := r.Breach; b != nil && b.Binding == binding && b.At.After(last) {
		last = b.At
	}
	return now.Sub(last) >= every
}
