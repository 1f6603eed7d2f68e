package timeline

import (
	"fmt"
	"html"
	"html/template"
	"strings"
	"time"
	"unicode/utf8"
)

// Measures of the drawing, in its own pixels.
const (
	margin     = 10
	axisHeight = 40
	titleGap   = 18 // from the top of a lane to the baseline of its title
	barTop     = 26
	barHeight  = 24
	rowHeight  = 16 // of the texts beneath a bar
	laneGap    = 14
	charWidth  = 6.8 // at 11 px, on the average, rather more than less
	tickApart  = 92
)

// drawing collects the elements of an SVG. Everything that goes in is escaped.
type drawing struct {
	b     strings.Builder
	t     Timeline
	id    string
	width float64
	scale scale
}

// SVG draws the timeline, width pixels wide. id begins the ids in it, so that a
// page can hold several. Colours, patterns and fonts are the style sheet's, by the
// classes tl-…; every kind also has a text, for colour is not to be the only
// difference.
func (t Timeline) SVG(id string, width int) template.HTML {
	d := drawing{t: t, id: id, width: float64(width)}
	d.scale = newScale(t.moments(), margin+6, d.width-margin-6)
	return template.HTML(d.draw()) //nolint:gosec // made here, every text in it escaped
}

func (d *drawing) draw() string {
	var lanes strings.Builder
	y := float64(axisHeight)
	for _, lane := range d.t.Lanes {
		d.b.Reset()
		height := d.lane(lane, y)
		lanes.WriteString(d.b.String())
		y += height + laneGap
	}
	height := y
	d.b.Reset()
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" class="tl" role="img" viewBox="0 0 %s %s" width="%s" height="%s" aria-labelledby="%s-title %s-desc">`,
		px(d.width), px(height), px(d.width), px(height), d.id, d.id)
	d.add(`<title id="%s-title">%s</title>`, d.id, esc("Timeline of job "+d.t.JobID))
	d.add(`<desc id="%s-desc">%s</desc>`, d.id, esc(d.t.Summary()))
	d.patterns()
	d.axis(height)
	d.b.WriteString(lanes.String())
	d.end(height)
	d.add(`</svg>`)
	return d.b.String()
}

// add appends a line. Texts among args must be escaped.
func (d *drawing) add(format string, args ...any) {
	fmt.Fprintf(&d.b, format+"\n", args...)
}

func esc(s string) string { return html.EscapeString(s) }

// px writes a number of pixels with one decimal at most.
func px(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

// patterns tell kinds apart without colour.
func (d *drawing) patterns() {
	d.add(`<defs>`)
	d.add(`<pattern id="%s-unknown" class="tl-p-unknown" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="8" height="8"/><path d="M0 0V8"/></pattern>`, d.id)
	d.add(`<pattern id="%s-silence" class="tl-p-silence" width="7" height="7" patternUnits="userSpaceOnUse"><rect width="7" height="7"/><circle cx="3.5" cy="3.5" r="1.2"/></pattern>`, d.id)
	d.add(`<pattern id="%s-queued" class="tl-p-queued" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6"/><path d="M0 3H6"/></pattern>`, d.id)
	d.add(`</defs>`)
}

// pattern is the pattern of a kind; the others are plain.
func (k Kind) pattern() string {
	switch k {
	case Unknown:
		return "unknown"
	case Silence:
		return "silence"
	case Queued, Pause:
		return "queued"
	default:
		return ""
	}
}

// axis draws the times, and where time was left out.
func (d *drawing) axis(height float64) {
	d.add(`<text class="tl-start" x="%s" y="12">%s</text>`, px(margin), esc(d.t.From.Format("2006-01-02 15:04:05.000")+" UTC"))
	free := float64(margin)
	for _, st := range d.scale.stretches() {
		if st.cut {
			free = max(free, d.cut(st, height))
			continue
		}
		for _, at := range st.ticks(d.t.From, tickApart) {
			x, text := d.scale.x(at), "+"+Took(at.Sub(d.t.From))
			wide := charWidth * float64(utf8.RuneCountInString(text))
			d.add(`<path class="tl-grid" d="M%s %dV%s"/>`, px(x), axisHeight-6, px(height))
			left := min(max(x-wide/2, margin), d.width-margin-wide)
			if left >= free {
				d.add(`<text class="tl-tick" x="%s" y="%d">%s</text>`, px(left), axisHeight-11, esc(text))
				free = left + wide + 8
			}
		}
	}
}

// cut draws a stretch that was left out, and tells how far its text reaches.
func (d *drawing) cut(st stretch, height float64) float64 {
	middle := (st.x0 + st.x1) / 2
	text := "// " + Took(st.to.Sub(st.from)) + " //"
	wide := charWidth * float64(utf8.RuneCountInString(text))
	left := min(max(middle-wide/2, margin), d.width-margin-wide)
	d.add(`<g class="tl-cut"><title>%s</title>`, esc("Not to scale: "+Took(st.to.Sub(st.from))+" in which nothing changed, from "+
		clock(st.from)+" to "+clock(st.to)))
	d.add(`<rect x="%s" y="%d" width="%s" height="%s"/>`, px(st.x0), axisHeight-6, px(st.x1-st.x0), px(height-axisHeight+6))
	d.add(`<text class="tl-cut-text" x="%s" y="%d">%s</text></g>`, px(left), axisHeight-11, esc(text))
	return left + wide + 8
}

func clock(t time.Time) string { return t.Format("15:04:05.000") }

// end draws the moment the job ended, or now.
func (d *drawing) end(height float64) {
	at, text, class := d.t.Ended, "job "+string(d.t.State), "tl-end"
	if d.t.Live {
		at, text, class = d.t.To, "now", "tl-now"
	}
	x := d.scale.x(at)
	wide := charWidth * float64(utf8.RuneCountInString(text))
	d.add(`<path class="%s" d="M%s 16V%s"/>`, class, px(x), px(height))
	d.add(`<text class="%s-text" x="%s" y="12">%s</text>`, class, px(max(x-wide, 190)), esc(text))
}

// lane draws an attempt from y on and tells its height.
func (d *drawing) lane(lane Lane, y float64) float64 {
	title := fmt.Sprintf("Attempt %d · %s · %s", lane.Attempt, lane.Provider, lane.State)
	class := "tl-lane"
	if lane.Winner {
		title, class = title+" · won", class+" tl-lane-won"
	}
	d.add(`<g class="%s"><title>%s</title>`, class, esc(title))
	d.add(`<text class="tl-name" x="%s" y="%s">%s</text>`, px(margin), px(y+titleGap), esc(title))
	for _, s := range lane.Spans {
		d.span(s, y+barTop)
	}
	d.afterwards(lane, y+barTop+barHeight/2)
	rows := d.texts(lane.Marks, y+barTop+barHeight)
	for _, m := range lane.Marks {
		d.sign(m, d.scale.x(m.At), y+barTop+barHeight/2)
	}
	d.add(`</g>`)
	return barTop + barHeight + float64(rows)*rowHeight + 4
}

// afterwards leads the eye from where an attempt ended to what came too late.
func (d *drawing) afterwards(lane Lane, y float64) {
	if len(lane.Spans) == 0 || len(lane.Marks) == 0 {
		return
	}
	ended, last := d.scale.x(lane.Spans[len(lane.Spans)-1].To), d.scale.x(lane.Marks[len(lane.Marks)-1].At)
	if last > ended {
		d.add(`<path class="tl-after" d="M%s %sH%s"/>`, px(ended), px(y), px(last))
	}
}

func (d *drawing) span(s Span, y float64) {
	x0, x1 := d.scale.x(s.From), d.scale.x(s.To)
	wide := max(x1-x0, 1.5)
	took := Took(s.To.Sub(s.From))
	said := fmt.Sprintf("%s %s, from %s to %s", s.Kind.Words(), took, clock(s.From), clock(s.To))
	if s.Open {
		said = fmt.Sprintf("%s for %s, since %s", s.Kind.Words(), took, clock(s.From))
	}
	fill := ""
	if p := s.Kind.pattern(); p != "" {
		fill = fmt.Sprintf(` fill="url(#%s-%s)"`, d.id, p)
	}
	d.add(`<g class="tl-span tl-%s"><title>%s</title>`, s.Kind, esc(said))
	d.add(`<rect x="%s" y="%s" width="%s" height="%d"%s/>`, px(x0), px(y), px(wide), barHeight, fill)
	for _, text := range []string{s.Kind.Words() + " " + took, s.Kind.Words(), took} {
		if charWidth*float64(utf8.RuneCountInString(text))+20 < wide {
			d.add(`<text class="tl-label" x="%s" y="%s">%s</text>`, px(x0+10), px(y+barHeight/2+4), esc(text))
			break
		}
	}
	d.add(`</g>`)
}

// texts writes what the marks say beneath the bar, in as many rows as it takes for
// none to cover another.
func (d *drawing) texts(marks []Mark, y float64) int {
	var ends []float64 // of the rows
	for _, m := range marks {
		x := d.scale.x(m.At)
		text := m.Text
		wide := charWidth * float64(utf8.RuneCountInString(text))
		if most := d.width - 2*margin; wide > most {
			text = string([]rune(text)[:int(most/charWidth)-1]) + "…"
			wide = most
		}
		left := min(max(x-3, margin), d.width-margin-wide)
		row := 0
		for row < len(ends) && ends[row] > left {
			row++
		}
		if row == len(ends) {
			ends = append(ends, 0)
		}
		ends[row] = left + wide + 12
		base := y + float64(row+1)*rowHeight - 2
		d.add(`<path class="tl-lead" d="M%s %sV%s"/>`, px(x), px(y), px(base-9))
		d.add(`<text class="tl-text tl-text-%s" x="%s" y="%s">%s</text>`, m.Sign, px(left), px(base), esc(text))
	}
	return len(ends)
}
