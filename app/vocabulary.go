package app

import (
	"regexp"
	"sync"
)

// vocabulary bounds the words of a label. Reasons are words of our own, but a
// provider type of somebody else's brings its own, and may make them of what a
// provider said: then Prometheus would get a series for each.
type vocabulary struct {
	mu    sync.Mutex
	words map[string]bool
}

const (
	mostWords = 100
	otherWord = "other"
)

var oneWord = regexp.MustCompile(`^[a-z0-9_]{0,64}$`)

// word is w, or other when it is no word or there are too many already.
func (v *vocabulary) word(w string) string {
	if !oneWord.MatchString(w) {
		return otherWord
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.words == nil {
		v.words = map[string]bool{}
	}
	if !v.words[w] && len(v.words) >= mostWords {
		return otherWord
	}
	v.words[w] = true
	return w
}
