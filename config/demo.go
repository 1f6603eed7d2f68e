package config

import (
	_ "embed"
	"os"
)

// DemoYAML is the demo's configuration as a file, with its comments.
//
//go:embed demo.yaml
var DemoYAML []byte

// Demo returns the print shop: the route print over the simulated providers
// inkjet and laser. Options are those of Parse.
func Demo(opts ...Option) (*Config, error) {
	return Parse("demo.yaml", DemoYAML, os.LookupEnv, opts...)
}
