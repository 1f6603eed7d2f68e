package main

import (
	"fmt"
	"math"
)

// bars is a chart of horizontal bars, each of one or more parts.
type bars struct {
	title, subtitle string
	parts           []string // what the parts are; one needs no name
	rows            []bar
}

type bar struct {
	label  string
	values []float64
	told   string // the value in words
	floor  bool   // not ours: drawn as what the others are held against
}

const (
	barsTop   = 62
	rowHeight = 28
	barLeft   = 196
	barRight  = 110 // room for the words
)

func (c bars) draw() string {
	legend := 0
	if len(c.parts) > 1 {
		legend = 26
	}
	s := newSVG(barsTop+rowHeight*len(c.rows)+legend+10, c.title, c.subtitle)
	scale := float64(s.width-barLeft-barRight) / c.highest()
	for i, row := range c.rows {
		y := float64(barsTop + rowHeight*i)
		s.text(barLeft-10, y+17, "end", row.label)
		x := float64(barLeft)
		for part, value := range row.values {
			class := fmt.Sprintf("fill%d", part)
			if row.floor && len(c.parts) < 2 {
				class = "fill2"
			}
			s.rect(x, y+3, value*scale, rowHeight-8, class)
			x += value * scale
		}
		s.text(x+6, y+17, "soft", row.told)
	}
	x := float64(barLeft)
	for part := range c.parts[:len(c.parts)*min(1, legend)] {
		y := float64(barsTop + rowHeight*len(c.rows) + 6)
		s.rect(x, y, 12, 12, fmt.Sprintf("fill%d", part))
		s.text(x+18, y+11, "soft", c.parts[part])
		x += 160
	}
	return s.end()
}

func (c bars) highest() float64 {
	highest := 0.0
	for _, row := range c.rows {
		total := 0.0
		for _, value := range row.values {
			total += value
		}
		highest = max(highest, total)
	}
	return max(highest, 1e-9)
}

// tail is a chart of latencies by the part of callers that waited no longer. Both
// axes are logarithmic: the right one tenth of the chart is one caller in a thousand.
type tail struct {
	title, subtitle string
	names           []string
	curves          curves
}

const (
	tailTop, tailBottom = 64.0, 330.0
	tailLeft, tailRight = 60.0, 740.0
)

// nines is where a percentile is on the horizontal axis: 90 at 1, 99 at 2.
func nines(percent float64) float64 { return -math.Log10(1 - percent/100) }

func (c tail) draw() string {
	s := newSVG(int(tailBottom)+44+20*len(c.names), c.title, c.subtitle)
	low, high := c.bounds()
	x := func(percent float64) float64 { return tailLeft + (tailRight-tailLeft)*nines(percent)/nines(99.9) }
	y := func(ms float64) float64 {
		return tailBottom - (tailBottom-tailTop)*math.Log10(max(ms, low)/low)/math.Log10(high/low)
	}
	for decade := low; decade <= high; decade *= 10 {
		for _, step := range []float64{1, 2, 5} {
			if ms := decade * step; ms <= high {
				s.line(tailLeft, y(ms), tailRight, y(ms), "grid")
				s.text(tailLeft-8, y(ms)+4, "soft end", fmt.Sprintf("%g ms", ms))
			}
		}
	}
	for _, percent := range []float64{50, 90, 99, 99.9} {
		s.line(x(percent), tailTop, x(percent), tailBottom, "grid")
		s.text(x(percent), tailBottom+18, "soft middle", fmt.Sprintf("%g %%", percent))
	}
	for i, name := range c.names {
		var points [][2]float64
		for _, p := range c.curves[name] {
			points = append(points, [2]float64{x(p.Percent), y(p.MS)})
		}
		s.path(points, i)
		at := tailBottom + 40 + 20*float64(i)
		s.path([][2]float64{{tailLeft, at - 4}, {tailLeft + 36, at - 4}}, i)
		s.text(tailLeft+46, at, "soft", name)
	}
	return s.end()
}

// bounds are the powers of ten around all latencies.
func (c tail) bounds() (low, high float64) {
	low, high = math.Inf(1), 1
	for _, name := range c.names {
		for _, p := range c.curves[name] {
			low, high = min(low, max(p.MS, 0.1)), max(high, p.MS)
		}
	}
	if math.IsInf(low, 1) {
		low = 1
	}
	low = math.Pow10(int(math.Floor(math.Log10(low))))
	return low, max(low*10, roundUp(high))
}

// roundUp is the next 1, 2 or 5 of a decade.
func roundUp(v float64) float64 {
	decade := math.Pow10(int(math.Floor(math.Log10(v))))
	for _, step := range []float64{1, 2, 5} {
		if decade*step >= v {
			return decade * step
		}
	}
	return decade * 10
}
