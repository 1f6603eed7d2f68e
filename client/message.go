package client

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
)

// mediaEvents is the media type of server-sent events (WHATWG HTML §9.2).
const mediaEvents = "text/event-stream"

// maxMessage bounds one message of a stream, in bytes. Events hold reasons of at
// most some hundred characters.
const maxMessage = 1 << 20

// message is one server-sent event.
type message struct{ id, event, data string }

// readMessages gives every message of the stream to take until that fails, and
// returns why it ended: io.EOF where the stream just did. heard is called for every
// line, also of heartbeats.
func readMessages(r io.Reader, heard func(), take func(message) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxMessage)
	var m message // its id outlives a message
	for lines.Scan() {
		heard()
		if line := lines.Text(); line != "" {
			m.add(line)
			continue
		}
		if m.data != "" {
			m.data = strings.TrimSuffix(m.data, "\n")
			if err := take(m); err != nil {
				return err
			}
		}
		m = message{id: m.id}
	}
	// A message without the empty line after it is cut off, and not taken.
	return errors.Join(io.EOF, lines.Err())
}

// add takes one line: a field, or a comment.
func (m *message) add(line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "id":
		m.id = value
	case "event":
		m.event = value
	case "data":
		m.data += value + "\n"
	}
}

func isStream(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && media == mediaEvents
}
