package audit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Query selects entries, newest first.
type Query struct {
	Actor  string // part of the actor's name or the key's id, in any case; empty: anybody
	Action string // exactly; empty: any
	Target string // part of the target, in any case; empty: any
	// TargetIs is the whole target; empty: any.
	TargetIs string
	Outcome  Outcome // empty: any
	Limit    int     // at most; defaults to 50
	After    string  // Page.Next of the page before
}

// Page is a part of the book.
type Page struct {
	Entries []Entry
	Next    string // cursor of the next page; empty on the last
}

// ErrBadCursor is answered for an After that is none of Page.Next.
var ErrBadCursor = errors.New("the cursor is not one the audit log has given")

var cursors = regexp.MustCompile(`^[0-9]{1,19}-[0-9]{1,19}$`)

const (
	batch = 500
	// scanMost bounds what one page looks at, so that a filter that matches little
	// ends the page early.
	scanMost = 2000
	// lookBack is how many newer entries are searched for the outcome of what is on
	// a page. A change takes seconds at most; so many others hardly fit in between.
	lookBack = 500
)

// List returns a page of changes, each with its latest known outcome: an entry
// that announces a change and the one that settles it are one line, under the ID
// and time of the announcement.
func (l *Log) List(ctx context.Context, q Query) (Page, error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	settled := map[string]Entry{}
	from := "+"
	if q.After != "" {
		if !cursors.MatchString(q.After) {
			return Page{}, ErrBadCursor
		}
		from = "(" + q.After
		if err := l.lookBack(ctx, q.After, settled); err != nil {
			return Page{}, err
		}
	}
	var page Page
	for scanned := 0; scanned < scanMost; scanned += batch {
		found, err := l.rdb.XRevRangeN(ctx, stream, from, "-", batch).Result()
		if err != nil {
			return Page{}, fmt.Errorf("reading the audit log: %w", err)
		}
		full, err := page.collect(q, found, settled)
		if err != nil || full || len(found) < batch {
			return page, err
		}
		page.Next = found[len(found)-1].ID
		from = "(" + page.Next
	}
	return page, nil
}

// lookBack gathers the outcomes entered since a page ended.
func (l *Log) lookBack(ctx context.Context, cursor string, settled map[string]Entry) error {
	newer, err := l.rdb.XRangeN(ctx, stream, cursor, "+", lookBack).Result()
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	for _, message := range newer {
		if err := settle(message, settled); err != nil {
			return err
		}
	}
	return nil
}

func settle(message redis.XMessage, settled map[string]Entry) error {
	e, err := readEntry(message.ID, message.Values)
	if err == nil && e.Of != "" {
		settled[e.Of] = e
	}
	return err
}

// collect adds the matching entries of a batch; full when the page is, and then
// Next is set if anything may follow.
func (p *Page) collect(q Query, found []redis.XMessage, settled map[string]Entry) (full bool, err error) {
	p.Next = ""
	for i, message := range found {
		e, err := readEntry(message.ID, message.Values)
		if err != nil {
			return false, err
		}
		if e.Of != "" {
			settled[e.Of] = e
			continue
		}
		if outcome, ok := settled[e.ID]; ok {
			e.Outcome, e.Detail = outcome.Outcome, outcome.Detail
		}
		if !q.matches(e) {
			continue
		}
		p.Entries = append(p.Entries, e)
		if len(p.Entries) == q.Limit {
			if i+1 < len(found) || len(found) == batch {
				p.Next = e.ID
			}
			return true, nil
		}
	}
	return false, nil
}

func (q Query) matches(e Entry) bool {
	return (contains(e.Actor, q.Actor) || contains(e.KeyID, q.Actor)) && (q.Action == "" || e.Action == q.Action) &&
		contains(e.Target, q.Target) && (q.TargetIs == "" || e.Target == q.TargetIs) && (q.Outcome == "" || e.Outcome == q.Outcome)
}

func contains(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}
