package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
)

// toxic is something that a network does.
type toxic struct{ name, text string }

var toxics = []toxic{
	{"reset", `"type":"reset_peer","attributes":{"timeout":0}`},
	{"black hole for answers", `"type":"timeout","attributes":{"timeout":0}`},
	{"black hole for questions", `"stream":"upstream","type":"timeout","attributes":{"timeout":0}`},
	{"slow answers", `"type":"latency","attributes":{"latency":300,"jitter":200}`},
	{"slow questions", `"stream":"upstream","type":"latency","attributes":{"latency":300,"jitter":200}`},
	{"half an answer", `"type":"limit_data","attributes":{"bytes":300}`},
	{"half a question", `"stream":"upstream","type":"limit_data","attributes":{"bytes":300}`},
	{"slow close", `"type":"slow_close","attributes":{"delay":300}`},
}

// drawToxic picks a way, what happens on it, and for how long. Each toxic has its turn
// before one comes again.
func (w *world) drawToxic(dice *rand.Rand, deck *[]toxic) fault {
	if len(*deck) == 0 {
		*deck = slices.Clone(toxics)
		dice.Shuffle(len(toxics), func(i, j int) { (*deck)[i], (*deck)[j] = (*deck)[j], (*deck)[i] })
	}
	what := (*deck)[0]
	*deck = (*deck)[1:]
	ways := w.proxies[:len(w.proxies)-fsckProxies]
	p := ways[dice.IntN(len(ways))]
	d := 300*time.Millisecond + time.Duration(dice.Int64N(int64(1200*time.Millisecond)))
	return func(ctx context.Context) (int, error) {
		w.poisoned[what.name]++ // one at a time
		return 0, poison(ctx, p, what.text, d)
	}
}

// fsckProxies are the last ones made: nobody uses them during the run.
const fsckProxies = 2

func poison(ctx context.Context, p *toxiproxy.Proxy, text string, d time.Duration) error {
	if _, err := p.Toxics.AddToxicJson(strings.NewReader(`{"name":"chaos",` + text + `}`)); err != nil {
		return fmt.Errorf("adding a toxic to %s: %w", p.Name, err)
	}
	rest(ctx, d)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := p.Toxics.RemoveToxic(ctx, "chaos"); err != nil {
		return fmt.Errorf("removing a toxic from %s: %w", p.Name, err)
	}
	return nil
}
