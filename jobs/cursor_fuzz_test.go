package jobs

import (
	"encoding/base64"
	"errors"
	"testing"
)

// FuzzCursor: what is taken for a cursor leads to a place in a list that has a cursor
// of its own, the same place.
func FuzzCursor(f *testing.F) {
	f.Add(listed{at: 1796024410328, id: "job_01M8NPNF6JYBBH1R2M5XQ6Y80B09"}.cursor())
	for _, seed := range []string{"", "x", "MS5qb2JfMQ", base64.RawURLEncoding.EncodeToString([]byte("-1.job_")), base64.RawURLEncoding.EncodeToString([]byte("zzzzzzzzzzzzzz.job_x"))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		place, err := readCursor(cursor)
		if err != nil {
			if !errors.Is(err, ErrBadCursor) {
				t.Fatalf("%q: %v", cursor, err)
			}
			return
		}
		if again, err := readCursor(place.cursor()); err != nil || again != place {
			t.Fatalf("%q leads to %+v, its own cursor to %+v (%v)", cursor, place, again, err)
		}
	})
}

// FuzzEventID: what Last-Event-ID and after of a trail may hold.
func FuzzEventID(f *testing.F) {
	for _, seed := range []string{"", "1", "0", "-1", "+1", "1-1", "2147483648", "99999999999999999999", "0x1", " 1", "١"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		n, err := eventNumber(id)
		if err != nil && !errors.Is(err, ErrBadCursor) || n < 0 {
			t.Fatalf("%q: %d, %v", id, n, err)
		}
	})
}
