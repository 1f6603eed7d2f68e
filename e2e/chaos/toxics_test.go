package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
)

// toxics are what a network does: resets, black holes in both directions, latency,
// half an answer, half a question, a close that takes its time.
var toxics = []string{
	`"type":"reset_peer","attributes":{"timeout":0}`,
	`"type":"timeout","attributes":{"timeout":0}`,
	`"stream":"upstream","type":"timeout","attributes":{"timeout":0}`,
	`"type":"latency","attributes":{"latency":300,"jitter":200}`,
	`"stream":"upstream","type":"latency","attributes":{"latency":300,"jitter":200}`,
	`"type":"limit_data","attributes":{"bytes":300}`,
	`"stream":"upstream","type":"limit_data","attributes":{"bytes":300}`,
	`"type":"slow_close","attributes":{"delay":300}`,
}

// drawToxic picks a way, what happens on it, and for how long.
func (w *world) drawToxic(dice *rand.Rand) fault {
	ways := w.proxies[:len(w.proxies)-fsckProxies]
	p, text := ways[dice.IntN(len(ways))], toxics[dice.IntN(len(toxics))]
	d := 300*time.Millisecond + time.Duration(dice.Int64N(int64(1200*time.Millisecond)))
	return func(ctx context.Context) (int, error) { return 0, poison(ctx, p, text, d) }
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
