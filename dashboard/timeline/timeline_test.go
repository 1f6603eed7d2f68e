package timeline_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/dashboard/timeline"
	"onejob/jobs"
)

var update = flag.Bool("update", false, "write the golden files anew")

func (l *life) timeline() timeline.Timeline {
	return timeline.Of(&l.job, l.events, born.Add(l.now))
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func text(tl timeline.Timeline) string {
	var b strings.Builder
	fmt.Fprintln(&b, tl.Summary())
	for _, r := range tl.Rows() {
		open := ""
		if r.Open {
			open = ", goes on"
		}
		fmt.Fprintf(&b, "%d %-8s %10s  %s (%s%s)\n", r.Attempt, r.Provider, r.After, r.What, r.Took, open)
	}
	for _, note := range tl.Notes {
		fmt.Fprintln(&b, "note:", note)
	}
	return b.String()
}

func TestLives(t *testing.T) {
	t.Parallel()
	for name, begin := range lives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tl := begin().timeline()
			golden(t, name+".txt", text(tl))
			golden(t, name+".svg", string(tl.SVG("t", 960)))
			sound(t, tl, string(tl.SVG("t", 960)), 960)
			sound(t, tl, string(tl.SVG("n", 350)), 350)
		})
	}
}

// sound holds a drawing against what every one must be.
func sound(t *testing.T, tl timeline.Timeline, svg string, width float64) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "well-formed")
		if start, ok := token.(xml.StartElement); ok {
			require.NotContains(t, []string{"script", "style", "a", "image", "foreignObject"}, start.Name.Local)
			for _, attr := range start.Attr {
				require.NotEqual(t, "style", attr.Name.Local, "the content policy refuses inline styles")
				require.False(t, strings.HasPrefix(attr.Name.Local, "on"), attr.Name.Local)
			}
		}
	}
	require.Contains(t, svg, `role="img"`)
	for _, number := range regexp.MustCompile(` (?:x|width)="([^"]+)"`).FindAllStringSubmatch(svg, -1) {
		v, err := strconv.ParseFloat(number[1], 64)
		require.NoError(t, err)
		require.False(t, math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || v > width, number[0])
	}
	for _, lane := range tl.Lanes {
		for i, s := range lane.Spans {
			require.False(t, s.To.Before(s.From))
			if i > 0 {
				require.Equal(t, lane.Spans[i-1].To, s.From, "no gaps")
			}
			require.False(t, s.Open && i < len(lane.Spans)-1, "only the last goes on")
		}
		for _, m := range lane.Marks {
			require.False(t, m.At.Before(tl.From) || m.At.After(tl.To), "%s at %s", m.Sign, m.At)
		}
	}
}

func TestHostileWordsStayText(t *testing.T) {
	t.Parallel()
	svg := string(lives["hostile_words"]().timeline().SVG("t", 960))
	require.NotContains(t, svg, "<script")
	require.NotContains(t, svg, "<b>")
	require.NotContains(t, svg, "\u202e")
	require.NotContains(t, svg, "\u2028")
	require.Contains(t, svg, "&lt;script&gt;")
}

// A job that ended is drawn the same whenever it is looked at.
func TestEndedJobsDoNotMove(t *testing.T) {
	t.Parallel()
	l := lives["race"]()
	before := l.timeline().SVG("t", 960)
	l.now += 48 * time.Hour
	require.Equal(t, before, l.timeline().SVG("t", 960))
}

// Cutting leaves out time in which nothing happened, and says how much.
func TestLongSilencesAreCutAndSaidSo(t *testing.T) {
	t.Parallel()
	svg := string(lives["unknown_for_hours"]().timeline().SVG("t", 960))
	require.Contains(t, svg, "// 2 h 59 min //")
	require.Contains(t, svg, "Not to scale")
	svg = string(lives["late_answer_in_time"]().timeline().SVG("t", 960))
	require.NotContains(t, svg, "tl-cut", "42 seconds are drawn as they are")
}

func TestTook(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 ms", 999 * ms: "999 ms", sec: "1 s", 1050 * ms: "1.1 s", 9990 * ms: "10 s", 59999 * ms: "1 min", 14850 * ms: "14.8 s", time.Minute: "1 min",
		61 * sec: "1 min 1 s", 3*time.Hour + 20*time.Minute: "3 h 20 min", 50 * time.Hour: "2 d 2 h", -5 * sec: "−5 s",
	} {
		require.Equal(t, want, timeline.Took(d))
	}
}

// Whatever a record holds, it is drawn: records are made by versions to come, and
// by hand.
func FuzzOf(f *testing.F) {
	f.Add(int64(0), int64(5), int64(10), int64(20), "timeout", uint8(3))
	f.Add(int64(-5), int64(1<<40), int64(3), int64(-9), "x", uint8(4))
	f.Fuzz(func(t *testing.T, claimed, sent, unknown, finished int64, reason string, state uint8) {
		clip := func(n int64) time.Duration { return time.Duration(n%(1<<41)) * time.Millisecond }
		l := begin()
		l.run(clip(claimed), clip(sent))
		l.suspect(1, reason, clip(unknown))
		states := []jobs.AttemptState{jobs.AttemptStarting, jobs.AttemptRunning, jobs.AttemptUnknown, jobs.AttemptFailed, jobs.AttemptDiscarded}
		l.settle(1, states[int(state)%len(states)], "x", "fail", reason, clip(finished))
		tl := l.timeline()
		sound(t, tl, string(tl.SVG("t", 960)), 960)
	})
}
