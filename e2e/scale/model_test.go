package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plain are costs that are easy to reckon with.
var plain = costs{
	API: 500, Worker: 250, Jobs: 120, Queue: 60, Expire: 20, Publish: 4, Messages: 3,
	SweepRedis: 100, ExpireRate: 1000, PollRedis: 10, Fsync: 500, Bytes: 1000, Key: 200, Log: 3000,
}

func loadOf(t *testing.T, c costs, d deployment, name string) float64 {
	t.Helper()
	for _, p := range c.parts(d) {
		if p.Name == name {
			return p.Load
		}
	}
	t.Fatalf("no part %q", name)
	return 0
}

// TestParts: the utilisation law, by hand.
func TestParts(t *testing.T) {
	t.Parallel()
	d := deployment{Rate: 1000, APICores: 2, Masters: 1, Queues: 1, Workers: 4, Cores: 1, Slots: 50, Call: 0.1}
	for name, want := range map[string]float64{
		partAPI:     0.25,     // 1000 × 500 µs ÷ 2
		partQueue:   0.2004,   // 1000 × (120 + 60 + 20) µs, and 4 sweeps of 100 µs
		partMaster:  0.1404,   // without the queue's 60 µs
		partWorkers: 0.0625,   // 1000 × 250 µs ÷ 4
		partSweeper: 0.25,     // 1000 ÷ (4 × 1000)
		partTaking:  0.033499, // 1000 × 1.5 × 500 µs ÷ (1 − 0.2004) ÷ (4 × 7 takers)
		partSlots:   0.508725, // 1000 × (100 ms + 2 × 1.5 × 500 µs ÷ (1 − 0.1404)) ÷ 200
	} {
		require.InDelta(t, want, loadOf(t, plain, d, name), 0.0002, name)
	}
	require.Equal(t, partSlots, plain.first(d).Name)
}

// TestParts_ThreeMasters: jobs spread by partition, messages go to all, and a queue
// stays where it is.
func TestParts_ThreeMasters(t *testing.T) {
	t.Parallel()
	d := deployment{Rate: 1000, APICores: 1, Masters: 3, Queues: 1, Workers: 1, Cores: 1, Slots: 1}
	share := largestShare(3)
	require.InDelta(t, 22.0/64, share, 0.02)
	other := 1e-3*((120+20)*share+3*4*2/3) + 100e-6*share
	require.InDelta(t, other, loadOf(t, plain, d, partMaster), 1e-9)
	require.InDelta(t, other+0.060, loadOf(t, plain, d, partQueue), 1e-9)
	d.Queues = 3
	require.InDelta(t, other+0.020, loadOf(t, plain, d, partQueue), 1e-9)
	d.Queues = 4
	require.InDelta(t, other+0.030, loadOf(t, plain, d, partQueue), 1e-9, "two of four are on one master")
}

// TestCapacity: at the rate it gives the first part is as full as wanted, and no other
// is fuller.
func TestCapacity(t *testing.T) {
	t.Parallel()
	d := deployment{APICores: 8, Masters: 1, Queues: 1, Workers: 1, Cores: 8, Slots: 1000}
	c := plain
	c.ExpireRate = 1e9
	_, first := c.capacity(d, 1)
	require.Equal(t, partTaking, first.Name)
	require.InDelta(t, 1, first.Load, 1e-6)
	d.Workers, d.APICores = 100, 1
	rate, first := c.capacity(d, 0.7)
	require.Equal(t, partAPI, first.Name)
	require.InDelta(t, 1400, rate, 1) // 0.7 ÷ 500 µs
}

// TestClusterRate: more masters bring more until what they tell each other is most of
// what they do; beyond the wall no number of them helps, and cells do.
func TestClusterRate(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 3500, plain.clusterRate(1, 1), 1) // 0.7 ÷ 200 µs
	require.Greater(t, plain.clusterRate(3, placedShare(3)), 2*plain.clusterRate(1, 1))
	wall := full / (plain.Messages * plain.Publish * micro)
	most, _ := plain.perCell()
	require.Less(t, most, wall)
	s := plain.sized(1_000_000, 100, 1)
	require.GreaterOrEqual(t, float64(s.Cells)*most, 1e6)
	require.Less(t, float64(s.Cells-1)*most, 1e6)
	silent := plain
	silent.Messages = 0
	alone, masters := silent.perCell()
	require.Greater(t, alone, 3*most)
	require.Greater(t, masters, 32)
}

// TestSlot: as the Redis Cluster specification says, and as a server would.
func TestSlot(t *testing.T) {
	t.Parallel()
	require.Equal(t, 12739, slot("123456789"))
	require.Equal(t, 12182, slot("foo"))
	require.InDelta(t, 1, largestShare(1), 0)
	require.Greater(t, largestShare(64), 1.0/64, "64 tags do not fall on 64 masters one by one")
	names := queueNames(3)
	for i, name := range names {
		require.Equal(t, i, nodeOf(name, 3))
	}
	require.InDelta(t, 22.0/64, placedShare(3), 1e-9)
	require.InDelta(t, 1.0/64, placedShare(64), 1e-9)
}

// TestDocument: docs/scaling.md has a place for each table, and its tables are those
// of the committed measurement.
func TestDocument(t *testing.T) {
	t.Parallel()
	m, err := readMeasured("measured.json")
	require.NoError(t, err)
	c, err := m.costs("")
	require.NoError(t, err)
	text, err := tables(m, c)
	require.NoError(t, err)
	document, err := os.ReadFile("../../docs/scaling.md")
	require.NoError(t, err)
	made, err := replaced(string(document), text)
	require.NoError(t, err)
	again, err := replaced(made, text)
	require.NoError(t, err)
	require.Equal(t, made, again)
	require.Contains(t, made, round(c.API)+" µs")
	_, err = replaced(strings.ReplaceAll(string(document), opening("sized"), ""), text)
	require.ErrorContains(t, err, opening("sized"))
}

func TestRound(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{0: "0", 0.123: "0.12", 4.56: "4.6", 12.4: "12", 999: "999", 1234: "1,200", 98_765_432: "99,000,000"} {
		require.Equal(t, want, round(value))
	}
	require.Equal(t, "2.6 TB", bytesOf(2.61e12))
}

// TestCosts_FromBench: a run of e2e/bench has the last word on what it measured, and
// one that measured too little says so.
func TestCosts_FromBench(t *testing.T) {
	t.Parallel()
	m := &measured{Single: whole{API: 1, Worker: 2, Nodes: []float64{100}}, Cluster: whole{Nodes: []float64{60, 20, 20}}}
	path := t.TempDir() + "/bench.json"
	require.NoError(t, os.WriteFile(path, []byte(`{"at": "2026-11-30T08:00:00Z", "medians": {"submit cpu of server µs": 150,
		"end-to-end cpu of server µs": 550, "end-to-end cpu of Redis µs": 500, "finished job bytes beyond input and result": 2400}}`), 0o600))
	c, err := m.costs(path)
	require.NoError(t, err)
	require.Equal(t, "`e2e/bench`, 2026-11-30", c.Bench)
	require.InDelta(t, 150, c.API, 0)
	require.InDelta(t, 400, c.Worker, 0)
	require.InDelta(t, 200, c.Queue, 1e-9, "40 of 100 are the queue's")
	require.InDelta(t, 300, c.Jobs, 1e-9)
	require.InDelta(t, 2400, c.Bytes, 0)
	require.NoError(t, os.WriteFile(path, []byte(`{"medians": {}}`), 0o600))
	_, err = m.costs(path)
	require.ErrorContains(t, err, "-only submit,end-to-end")
}
