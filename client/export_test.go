package client

import "time"

// Hasty makes pauses too short to wait for, and streams silent soon.
func Hasty(silence time.Duration) Option {
	return func(c *Client) {
		c.backoff = backoff{first: time.Millisecond, most: 20 * time.Millisecond}
		if silence > 0 {
			c.silence = silence
		}
	}
}

// KeyHeader is keyHeader, for the test that asks the server.
var KeyHeader = keyHeader
