// Package contracts says what a route's output must satisfy, and proves that a
// provider satisfies it before anything fails over to it (design §6).
//
// A contract is a file in promptfoo's shape, of which a declared subset is read
// and everything else refused by file and line. Its output rules run on every
// answer before it is finalized: what breaks one is a definite failure with a
// class of its own, and nothing is repaired. A certificate records that the whole
// contract held in real round trips; any change of what it binds voids it.
//
// What a certificate does not promise: a model's next answer. That is what the
// output rules are for.
package contracts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Property is something a certificate says of a provider.
type Property string

// The four properties (design §6). What proves each is said in verify*.go.
const (
	PropertySchema      Property = "schema"
	PropertyTemperature Property = "temperature"
	PropertyRendering   Property = "rendering"
	PropertyRoundTrip   Property = "round_trip"
)

// Properties are all of them, which is also the default of require.
func Properties() []Property {
	return []Property{PropertySchema, PropertyTemperature, PropertyRendering, PropertyRoundTrip}
}

// Contract is a contract file that was read without a problem. It is not changed
// after Parse and is safe for concurrent use.
type Contract struct {
	File        string
	Description string
	Prompt      *Template
	Options     map[string]any // sent on every call of the route, over the provider's own
	Require     []Property
	Exempt      map[Property]string // why a required property need not be proven
	Default     []Assertion         // of every test; without those that need vars, of every answer
	Tests       []Test
	Rendering   Rendering

	hash string
}

// Test is one prompt that verify sends, and what must hold of its answer.
type Test struct {
	Description string
	Vars        map[string]any // string, int64 or bool
	Assert      []Assertion    // beside the contract's Default
	Line        int
}

// Rendering says how the rendering of prompts is proven.
type Rendering struct {
	Canary       bool
	PromptTokens *PromptTokens
}

// PromptTokens pins the provider's own count of the tokens of one prompt.
type PromptTokens struct {
	Vars     map[string]any
	Min, Max int
}

// Load reads the contract at path and the files it names, which are looked for in
// its folder and below. The error is Problems, or that the file cannot be read.
func Load(path string) (*Contract, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("opening the folder of the contract: %w", err)
	}
	defer func() { _ = root.Close() }()
	data, err := root.ReadFile(filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("reading the contract: %w", err)
	}
	return Parse(path, data, root.FS())
}

// Parse reads a contract. name stands for the file in messages; files is the
// contract's folder, nil when it has none. The error is Problems: everything that
// is wrong, except that nothing is known of what follows a syntax error.
func Parse(name string, data []byte, files fs.FS) (*Contract, error) {
	r := reader{report: newReport(name), files: files, named: map[string]string{}}
	document := r.decode(data)
	if document == nil {
		return nil, r.err()
	}
	c := &Contract{File: name}
	r.contract(document, c)
	r.check(c)
	content := r.value("", document)
	if err := r.err(); err != nil {
		return nil, err
	}
	hash, err := hashOf("contract", content, r.named)
	if err != nil {
		return nil, err
	}
	c.hash = hash
	return c, nil
}

// Hash identifies what the contract says, with the files it names; comments and
// layout do not count.
func (c *Contract) Hash() string { return c.hash }

// Required are the properties that must be proven: those of require without the
// exempt ones.
func (c *Contract) Required() []Property {
	var required []Property
	for _, p := range c.Require {
		if _, exempt := c.Exempt[p]; !exempt {
			required = append(required, p)
		}
	}
	return required
}

// errNoObject is returned for JSON that must be an object and is none.
var errNoObject = errors.New("is no JSON object")

func object(raw json.RawMessage) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, errNoObject
	}
	return members, nil
}
