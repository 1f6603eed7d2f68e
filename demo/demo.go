// Package demo plays the four fractures in a terminal, against a process, a
// Redis and a provider of its own, and says of each promise whether it held.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"onejob/app"
	"onejob/config"
)

// configuration is the print shop over HTTP; %[1]s is where the printers are.
const configuration = `
server: {addr: "127.0.0.1:0"}
providers:
  inkjet: {type: http, url: "%[1]s/inkjet", timeout: 1s, deadline: 8s}
  laser:  {type: http, url: "%[1]s/laser", timeout: 1s, deadline: 8s}
routes:
  print: {providers: [inkjet, laser], failover: untested}
`

// ErrBroken says that a promise did not hold.
var ErrBroken = errors.New("a promise was broken")

// limit bounds the whole play.
const limit = 30 * time.Second

// Run plays the four fractures and writes what happened, and why, to w. The
// error is ErrBroken when a promise did not hold.
func Run(ctx context.Context, w io.Writer, log *slog.Logger) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	shop, err := openPrintshop()
	if err != nil {
		return fmt.Errorf("opening the print shop: %w", err)
	}
	cfg, err := config.Parse("demo", fmt.Appendf(nil, configuration, shop.url()), nil)
	if err != nil {
		return errors.Join(err, shop.close())
	}
	cfg.Drain = time.Second
	a := app.New(cfg, app.WithAPI(), app.WithWorker(), app.WithEmbeddedRedis(), app.WithDevKeys(), app.WithLog(log))
	defer func() { err = errors.Join(err, shop.close(), a.Close()) }()
	if err := a.Start(ctx); err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	s := &stage{w: w, shop: shop, caller: newCaller(a.Addr())}
	defer s.caller.close()
	return s.play(ctx)
}

// stage is where the fractures are played.
type stage struct {
	w      io.Writer
	shop   *printshop
	caller *caller
	broken int
}

func (s *stage) play(ctx context.Context) error {
	s.say("onejob demo: a print shop with two printers that count their sheets.\n")
	for i, scene := range scenes {
		s.say("%d · %s", i+1, scene.title)
		if err := scene.play(ctx, s); err != nil {
			return fmt.Errorf("scene %d: %w", i+1, err)
		}
		s.say("    %s\n", strings.ReplaceAll(scene.why, "\n", "\n    "))
	}
	if s.broken > 0 {
		s.say("%d promises were broken.", s.broken)
		return ErrBroken
	}
	s.say("Every promise held.")
	return nil
}

func (s *stage) say(format string, args ...any) { _, _ = fmt.Fprintf(s.w, format+"\n", args...) }

// promise checks one and says so.
func (s *stage) promise(held bool, format string, args ...any) {
	mark := "  ✓ "
	if !held {
		mark = "  ✗ BROKEN: "
		s.broken++
	}
	s.say(mark+format, args...)
}
