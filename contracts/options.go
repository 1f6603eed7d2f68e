package contracts

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"onejob/providers"
)

const temperature = "temperature"

// Params lays a job's params over the contract's options: together they go over
// the provider's own (design §6). A temperature above what the contract allows is
// an error.
func (c *Contract) Params(params json.RawMessage) (json.RawMessage, error) {
	merged, err := providers.Merge(c.Options, params)
	if err != nil {
		return nil, err
	}
	if allowed, limited := c.allowedTemperature(); limited && merged[temperature] != nil {
		var asked *float64
		if json.Unmarshal(merged[temperature], &asked) != nil || asked == nil || *asked > allowed {
			return nil, fmt.Errorf("params.temperature is not allowed: the contract's limit is %g", allowed)
		}
	}
	if len(merged) == 0 {
		return nil, nil
	}
	return providers.Encode(merged)
}

// allowedTemperature is the highest a call may ask for.
func (c *Contract) allowedTemperature() (float64, bool) {
	switch t := c.Options[temperature].(type) {
	case int:
		return float64(t), true
	case float64:
		return t, true
	}
	return 0, false
}

// options are what a call at this provider is made with: the contract's over its
// own.
func (c *Contract) options(own map[string]any) map[string]any {
	merged := maps.Clone(own)
	if merged == nil {
		merged = map[string]any{}
	}
	maps.Copy(merged, c.Options)
	return merged
}

// Bound tells whether a job's params leave the options as they were certified for
// the target. A job whose params do not, does not fail over by itself (design §7).
func (c *Contract) Bound(t Target, params json.RawMessage) bool {
	options := c.options(t.Options)
	members, err := object(params)
	if err != nil {
		return len(params) == 0 || string(params) == "null"
	}
	return !slices.ContainsFunc(slices.Collect(maps.Keys(members)), func(name string) bool {
		value, fault := parseJSON(string(members[name]))
		certified, set := options[name]
		return fault != nil || !set || !equalJSON(value, certified)
	})
}
