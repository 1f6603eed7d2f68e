package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"onejob/config"
)

// settings are the flags every process takes; the environment stands in for
// those that are not given.
type settings struct {
	config, redis, addr, logFormat string
	verbose                        bool
}

func (s *settings) register(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.config, "config", os.Getenv("ONEJOB_CONFIG"), "configuration `file` (ONEJOB_CONFIG)")
	f.StringVar(&s.redis, "redis", os.Getenv("ONEJOB_REDIS_URL"), "Redis `URL` (ONEJOB_REDIS_URL)")
	f.StringVar(&s.addr, "addr", os.Getenv("ONEJOB_ADDR"), "`host:port` to listen at (ONEJOB_ADDR)")
	f.StringVar(&s.logFormat, "log", "json", "log `format`: json or text")
	f.BoolVarP(&s.verbose, "verbose", "v", false, "log what is only of interest when something is odd")
}

// load reads the configuration, with the flags over it.
func (s *settings) load() (*config.Config, error) {
	if s.config == "" {
		return nil, usageError{fmt.Errorf("no configuration: give --config FILE or set ONEJOB_CONFIG (onejob dev needs none)")}
	}
	return s.checked(config.Load(s.config, config.WithRedisURL(s.redis), config.WithAddr(s.addr)))
}

// loadOrDemo is load, with the print shop when no file is given.
func (s *settings) loadOrDemo() (*config.Config, error) {
	if s.config != "" {
		return s.load()
	}
	return s.checked(config.Demo(config.WithRedisURL(s.redis), config.WithAddr(s.addr)))
}

func (s *settings) checked(cfg *config.Config, err error) (*config.Config, error) {
	if err != nil {
		return nil, usageError{err}
	}
	return cfg, nil
}

func (s *settings) log(w io.Writer) (*slog.Logger, error) {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if s.verbose {
		options.Level = slog.LevelDebug
	}
	var log *slog.Logger
	switch s.logFormat {
	case "json":
		log = slog.New(slog.NewJSONHandler(w, options))
	case "text":
		log = slog.New(slog.NewTextHandler(w, options))
	}
	if log != nil {
		redis.SetLogger(redisLog{log})
		slog.SetDefault(log) // also what libraries write with package log, as asynqmon does
		return log, nil
	}
	return nil, usageError{fmt.Errorf("--log %s: want json or text", s.logFormat)}
}

// redisLog gives go-redis's words to the log, which would else go to stderr as
// they are. What matters in them is told by whoever asked Redis.
type redisLog struct{ log *slog.Logger }

// Printf is go-redis's logger.
func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, "redis client", "said", fmt.Sprintf(format, args...))
}

// devKeys tells whether the fixed keys are asked for.
func devKeys() bool { return os.Getenv("ONEJOB_DEV_KEYS") == "1" }
