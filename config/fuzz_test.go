package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Parse never panics, and what it takes holds every rule.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(files, "demo.yaml") {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "x")
	}
	f.Add(small("redis: {url: ${V}}"), "redis://a:1?addr=b:2")
	f.Add(small("? [a]\n: &a {<<: *a}"), "[")
	f.Fuzz(func(t *testing.T, data []byte, value string) {
		getenv := func(string) (string, bool) { return value, value != "gone" }
		c, err := Parse("x.yaml", data, getenv)
		if (c == nil) != (err != nil) {
			t.Fatalf("config %v with error %v", c, err)
		}
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "x.yaml:") {
					t.Fatalf("a problem without its place: %q in %q", line, err)
				}
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("taken from a file, refused in code: %v", err)
		}
	})
}
