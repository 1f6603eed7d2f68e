package config

import (
	"fmt"
	"maps"
	"os"

	"go.yaml.in/yaml/v3"
)

// Option changes what Load, Parse, Demo and Validate take for granted.
type Option func(*settings)

type settings struct {
	types    map[string]providerType
	notYet   []later
	redisURL string
	addr     string
}

// WithTypes makes further provider types known, beside those of this package.
// Such a provider takes every key, and none is required.
func WithTypes(names ...string) Option {
	return func(s *settings) {
		for _, name := range names {
			if _, ours := s.types[name]; !ours {
				s.types[name] = providerType{custom: true}
			}
		}
	}
}

// WithRedisURL overrides redis.url, as --redis does. Empty changes nothing.
func WithRedisURL(url string) Option { return func(s *settings) { s.redisURL = url } }

// WithAddr overrides server.addr, as --addr does. Empty changes nothing.
func WithAddr(addr string) Option { return func(s *settings) { s.addr = addr } }

func apply(opts []Option) settings {
	s := settings{types: maps.Clone(knownTypes), notYet: notYet}
	for _, opt := range opts {
		opt(&s)
	}
	return s
}

// Load reads the file at path with the environment of the process. Its errors
// are those of Parse, or that the file cannot be read.
func Load(path string, opts ...Option) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return Parse(path, data, os.LookupEnv, opts...)
}

// Parse reads a configuration. name stands for the file in messages, and paths
// in the file are relative to its directory. getenv answers for ${NAME}; nil is
// an empty environment. The error is Problems: everything that is wrong, except
// that nothing is known of what follows a syntax error. With an error there is
// no Config.
func Parse(name string, data []byte, getenv func(string) (string, bool), opts ...Option) (*Config, error) {
	if getenv == nil {
		getenv = func(string) (string, bool) { return "", false }
	}
	set := apply(opts)
	s := &scanner{report: newReport(name), getenv: getenv, raw: map[*yaml.Node]string{}}
	if !s.decode(data) {
		return nil, s.err()
	}
	s.scan("", s.document)
	c := &Config{}
	reader{s}.config(s.document, c)
	s.override("redis.url", &c.Redis.URL, set.redisURL)
	s.override("server.addr", &c.Server.Addr, set.addr)
	c.setDefaults(s.written)
	s.refuseNotYet(set.notYet)
	checker{s.report, set.types}.config(c)
	if err := s.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// override replaces what the file says; a problem with the new value is not one
// of the file.
func (r *report) override(path string, field *string, value string) {
	if value != "" {
		*field = value
		r.outside[path] = true
	}
}

// Validate checks a Config built in code as Parse checks one from a file; call
// SetDefaults before. The error is Problems, without file and lines.
func (c *Config) Validate(opts ...Option) error {
	r := newReport("")
	checker{r, apply(opts).types}.config(c)
	return r.err()
}
