// Package payload shows what callers and providers wrote (inputs, results,
// evidence, messages) to people: as text that cannot pretend to be something else,
// without what the configuration redacts, and not more of it than a page can hold.
//
// It writes text, never HTML: whoever puts it on a page escapes it, as
// html/template does.
package payload

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible writes s so that nothing in it is hidden or moves what is beside it:
// control characters, marks that turn the direction of text (CVE-2021-42574), line
// and paragraph separators, and characters without a shape become ⟨U+202E⟩. A line
// feed and a tab stay.
func Visible(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && strings.ToValidUTF8(s, "") == s {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == unicode.ReplacementChar && !strings.HasPrefix(s[i:], string(unicode.ReplacementChar)):
			fmt.Fprintf(&b, "⟨%02X⟩", s[i]) // a byte that is no UTF-8
		case hidden(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Line is Visible for one line of at most limit characters; what is longer ends
// in …. Line feeds and tabs are shown, too.
func Line(s string, limit int) string {
	cut := false
	if len(s) > 4*limit { // more than can be shown, whatever is in it
		s, cut = strings.ToValidUTF8(s[:4*limit], ""), true
	}
	runes := []rune(Visible(strings.NewReplacer("\r\n", " ⏎ ", "\n", " ⏎ ", "\t", " ").Replace(s)))
	if len(runes) > limit {
		runes, cut = runes[:limit], true
	}
	if cut {
		return string(runes) + "…"
	}
	return string(runes)
}

// hidden tells whether r has no shape of its own or moves others: categories Cc,
// Cf, Co, Zl, Zp, and the fillers that look like nothing.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800', '\u034f':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector)
}
