package main

import (
	"fmt"
	"html"
	"strings"
)

// Charts are SVG with colours for a light and a dark ground, in the browser's choice;
// what a colour says, a word beside it says, too.

// svg gathers the elements of a drawing.
type svg struct {
	strings.Builder
	width, height int
}

const chartWidth = 760

// style has two sets of colours. Text has a contrast of at least 4.5 to its ground in
// both (WCAG 2.2, 1.4.3), marks 3 (1.4.11).
const style = `
  text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; fill: #1b2033; }
  .title { font-size: 15px; font-weight: 650; }
  .soft { fill: #515a72; font-size: 12px; }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  .ground { fill: #ffffff; }
  .grid { stroke: #dfe3ea; stroke-width: 1; }
  .fill0 { fill: #3d4dd1; } .fill1 { fill: #b35900; } .fill2 { fill: #6d7690; }
  .line { fill: none; stroke-width: 2; }
  .line0 { stroke: #3d4dd1; } .line1 { stroke: #b35900; } .line2 { stroke: #00786c; } .line3 { stroke: #a3308f; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e7eaf3; }
    .soft { fill: #a7b0c6; }
    .ground { fill: #161b2b; }
    .grid { stroke: #2a3248; }
    .fill0 { fill: #8f9bff; } .fill1 { fill: #ffb066; } .fill2 { fill: #8b95ae; }
    .line0 { stroke: #8f9bff; } .line1 { stroke: #ffb066; } .line2 { stroke: #4fd1c0; } .line3 { stroke: #f08fdc; }
  }
`

func newSVG(height int, title, subtitle string) *svg {
	s := &svg{width: chartWidth, height: height}
	s.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		s.width, s.height, s.width, s.height)
	s.put("<title>%s</title>\n<desc>%s</desc>\n<style>%s</style>\n", html.EscapeString(title), html.EscapeString(subtitle), style)
	s.put(`<rect class="ground" width="%d" height="%d" rx="6"/>`+"\n", s.width, s.height)
	s.text(16, 26, "title", title)
	s.text(16, 45, "soft", subtitle)
	return s
}

func (s *svg) put(format string, values ...any) { _, _ = fmt.Fprintf(s, format, values...) }

func (s *svg) text(x, y float64, class, text string) {
	s.put(`<text x="%.1f" y="%.1f" class="%s">%s</text>`+"\n", x, y, class, html.EscapeString(text))
}

func (s *svg) rect(x, y, width, height float64, class string) {
	s.put(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s"/>`+"\n", x, y, width, height, class)
}

func (s *svg) line(x1, y1, x2, y2 float64, class string) {
	s.put(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}

// dashes tell lines apart where colours do not.
var dashes = []string{"", "7 4", "2 3", "9 3 2 3"}

func (s *svg) path(points [][2]float64, series int) {
	var d strings.Builder
	for i, p := range points {
		_, _ = fmt.Fprintf(&d, "%c%.1f %.1f", "ML"[min(i, 1)], p[0], p[1])
	}
	s.put(`<path d="%s" class="line line%d" stroke-dasharray="%s"/>`+"\n", d.String(), series, dashes[series])
}

func (s *svg) end() string {
	s.WriteString("</svg>\n")
	return s.String()
}
