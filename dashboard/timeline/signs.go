package timeline

import (
	"fmt"
	"strings"
)

// shapes are what the signs look like, around their middle: told apart by shape,
// and by colour only besides.
var shapes = map[Sign]string{
	Sent:      `<path d="M-4 -12L6 -7L-4 -2Z"/><path class="tl-pole" d="M-4 -12V12"/>`,
	Suspected: `<circle r="8"/><path class="tl-ink" d="M-2.6 -2.6A2.7 2.7 0 1 1 0 0.6V2"/><circle class="tl-dot" cy="4.6" r="1"/>`,
	Looked:    `<circle r="6.5" cx="-1" cy="-1"/><path class="tl-ink" d="M4 4L9 9"/>`,
	Held:      `<path d="M-7 -7H7V7H-7Z"/><path class="tl-ink" d="M-2.5 -3.5V3.5M2.5 -3.5V3.5"/>`,
	Noted:     `<path d="M-7 -7H7V7H-7Z"/><path class="tl-ink" d="M-4 -2.5H4M-4 1H4M-4 4H1"/>`,
	Refused:   `<circle r="8"/><path class="tl-ink" d="M-3.2 -3.2L3.2 3.2M3.2 -3.2L-3.2 3.2"/>`,
	Cancelled: `<circle r="8"/><path class="tl-ink" d="M-4.5 4.5L4.5 -4.5"/>`,
	Lost:      `<circle r="8"/><path class="tl-ink" d="M-4 0H4"/>`,
	Late:      `<circle r="8"/><path class="tl-ink" d="M0 -4.5V0L3.2 2.4"/>`,
	Won:       star(11, 4.6),
}

// star is a five-pointed star; its points are far from, its corners near the middle.
func star(far, near float64) string {
	// Sines and cosines of the ten corners, from the top, clockwise.
	corners := [10][2]float64{
		{0, -1},
		{0.588, -0.809},
		{0.951, -0.309},
		{0.951, 0.309},
		{0.588, 0.809},
		{0, 1},
		{-0.588, 0.809},
		{-0.951, 0.309},
		{-0.951, -0.309},
		{-0.588, -0.809},
	}
	var b strings.Builder
	for i, c := range corners {
		r, step := far, "L"
		if i%2 == 1 {
			r = near
		}
		if i == 0 {
			step = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", step, r*c[0], r*c[1])
	}
	return `<path d="` + b.String() + `Z"/>`
}

// sign draws a mark around a point.
func (d *drawing) sign(m Mark, x, y float64) {
	d.add(`<g class="tl-sign tl-%s" transform="translate(%s %s)"><title>%s</title>%s</g>`,
		m.Sign, px(x), px(y), esc(clock(m.At)+" "+m.Text), shapes[m.Sign])
}
