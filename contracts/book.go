package contracts

import (
	"context"
	"fmt"
	"time"
)

// Book knows the routes that have a contract and what each of their providers is
// bound to, and answers from the store which certificates are valid now. It keeps
// no answers: a breach found by another process counts at once. It is safe for
// concurrent use once built.
type Book struct {
	store   *Store
	entries []Entry
	now     func() time.Time
}

// Entry is one provider of a route with a contract.
type Entry struct {
	Contract *Contract
	Target   Target
	Binding  string
}

// Pair names the entry.
func (e Entry) Pair() Pair { return Pair{e.Target.Route, e.Target.Provider} }

// NewBook returns an empty Book.
func NewBook(store *Store) *Book { return &Book{store: store, now: time.Now} }

// Add enters a provider of a route. Not to be called once the Book is used.
func (b *Book) Add(c *Contract, t Target) error {
	binding, err := Bind(t, c)
	if err != nil {
		return fmt.Errorf("binding provider %s of route %s: %w", t.Provider, t.Route, err)
	}
	b.entries = append(b.entries, Entry{Contract: c, Target: t, Binding: binding})
	return nil
}

// Contract is the contract of a route, nil when it has none.
func (b *Book) Contract(route string) *Contract {
	for _, e := range b.entries {
		if e.Target.Route == route {
			return e.Contract
		}
	}
	return nil
}

// Entries are those of a route and provider; an empty name is any.
func (b *Book) Entries(route, provider string) []Entry {
	var found []Entry
	for _, e := range b.entries {
		if (route == "" || e.Target.Route == route) && (provider == "" || e.Target.Provider == provider) {
			found = append(found, e)
		}
	}
	return found
}

// Bound tells whether a job's params leave what the certificates of its route are
// bound to; see Contract.Bound. True for a route without a contract.
func (b *Book) Bound(route string, params []byte) bool {
	for _, e := range b.Entries(route, "") {
		if !e.Contract.Bound(e.Target, params) {
			return false
		}
	}
	return true
}

// Certificates are the ids of the valid certificates of a route, by provider: who
// may be failed over to now.
func (b *Book) Certificates(ctx context.Context, route string) (map[string]string, error) {
	standings, err := b.standings(ctx, b.Entries(route, ""))
	if err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for _, s := range standings {
		if s.State == StateValid {
			ids[s.Provider] = s.Certificate.ID
		}
	}
	return ids, nil
}

// Standings tell of every entry how its certificate stands, in the order added.
func (b *Book) Standings(ctx context.Context) ([]Standing, error) {
	return b.standings(ctx, b.entries)
}

func (b *Book) standings(ctx context.Context, entries []Entry) ([]Standing, error) {
	pairs := make([]Pair, len(entries))
	for i, e := range entries {
		pairs[i] = e.Pair()
	}
	records, err := b.store.All(ctx, pairs...)
	if err != nil {
		return nil, err
	}
	standings := make([]Standing, len(entries))
	for i, e := range entries {
		standings[i] = standing(records[i], e.Binding, b.now())
	}
	return standings, nil
}
