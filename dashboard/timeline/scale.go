package timeline

import (
	"cmp"
	"slices"
	"time"
)

// scale tells where a moment is on the axis. Stretches in which nothing happens,
// much longer than all the rest, are cut: they have a width of their own, and
// whoever draws the axis says how much is missing.
type scale struct {
	points []int64 // ms, rising
	at     []float64
	cut    []bool // between a point and the next
}

// Stretches are cut when each is at least breakLeast long and breakTimes as long as
// all that is not cut: then the rest would be too narrow to see.
const (
	breakLeast = time.Minute
	breakTimes = 5
	breakMost  = 4
	breakWidth = 84
)

// newScale lays moments out between x0 and x1.
func newScale(moments []time.Time, x0, x1 float64) scale {
	s := scale{}
	for _, m := range moments {
		s.points = append(s.points, m.UnixMilli())
	}
	slices.Sort(s.points)
	s.points = slices.Compact(s.points)
	if len(s.points) == 1 {
		s.points = append(s.points, s.points[0]+1)
	}
	s.cut = make([]bool, len(s.points)-1)
	s.cutLongest()
	s.layOut(x0, x1)
	return s
}

// cutLongest cuts as many of the longest stretches as deserve it.
func (s *scale) cutLongest() {
	order := make([]int, len(s.cut))
	rest := int64(0)
	for i := range order {
		order[i] = i
		rest += s.length(i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.length(b), s.length(a)) })
	deserve := 0
	for k, i := range order[:min(breakMost, len(order))] {
		rest -= s.length(i)
		if rest > 0 && s.length(i) >= breakLeast.Milliseconds() && s.length(i) >= breakTimes*rest {
			deserve = k + 1
		}
	}
	for _, i := range order[:deserve] {
		s.cut[i] = true
	}
}

func (s *scale) length(i int) int64 { return s.points[i+1] - s.points[i] }

func (s *scale) cuts() int {
	n := 0
	for _, cut := range s.cut {
		if cut {
			n++
		}
	}
	return n
}

func (s *scale) layOut(x0, x1 float64) {
	total := int64(0)
	for i, cut := range s.cut {
		if !cut {
			total += s.length(i)
		}
	}
	gap := min(breakWidth, (x1-x0)/float64(2*max(1, s.cuts())))
	left := x1 - x0 - gap*float64(s.cuts())
	x := x0
	s.at = append(s.at, x)
	for i, cut := range s.cut {
		if cut {
			x += gap
		} else {
			x += left * float64(s.length(i)) / float64(total)
		}
		s.at = append(s.at, x)
	}
}

// x is where a moment is; what is outside is at the nearest end.
func (s *scale) x(t time.Time) float64 {
	ms := t.UnixMilli()
	i, found := slices.BinarySearch(s.points, ms)
	switch {
	case found:
		return s.at[i]
	case i == 0:
		return s.at[0]
	case i == len(s.points):
		return s.at[i-1]
	}
	share := float64(ms-s.points[i-1]) / float64(s.length(i-1))
	return s.at[i-1] + share*(s.at[i]-s.at[i-1])
}

// stretch is a part of the axis, drawn to scale or cut.
type stretch struct {
	from, to time.Time
	x0, x1   float64
	cut      bool
}

// stretches joins what is drawn to the same scale.
func (s *scale) stretches() []stretch {
	var all []stretch
	for i, cut := range s.cut {
		next := stretch{time.UnixMilli(s.points[i]).UTC(), time.UnixMilli(s.points[i+1]).UTC(), s.at[i], s.at[i+1], cut}
		if n := len(all); n > 0 && !cut && !all[n-1].cut {
			all[n-1].to, all[n-1].x1 = next.to, next.x1
			continue
		}
		all = append(all, next)
	}
	return all
}

// steps are the distances between two ticks that people can add up.
var steps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second,
	2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute,
	2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour,
	2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour,
}

// ticks are moments at whole distances from start within a stretch drawn to scale,
// at least apart pixels from each other.
func (st stretch) ticks(start time.Time, apart float64) []time.Time {
	if st.cut || st.x1-st.x0 < apart/2 {
		return nil
	}
	perPixel := float64(st.to.Sub(st.from)) / (st.x1 - st.x0)
	step := steps[len(steps)-1]
	for _, candidate := range steps {
		if float64(candidate) >= perPixel*apart {
			step = candidate
			break
		}
	}
	var ticks []time.Time
	first := st.from.Sub(start).Truncate(step)
	if first < st.from.Sub(start) {
		first += step
	}
	for at := start.Add(first); !at.After(st.to); at = at.Add(step) {
		ticks = append(ticks, at)
	}
	return ticks
}
