package main

import (
	"bytes"
	"fmt"
	"strconv"
	"sync/atomic"
)

// keys of requests are never used twice in a run.
var keys atomic.Int64

// text fills a body up to about half a kilobyte, as a prompt would.
var text = string(bytes.Repeat([]byte("The press jammed twice on Monday. "), 13))

// post writes a POST under an idempotency key.
func post(buffer []byte, path, key, body string) []byte {
	return postWith(buffer, path, "", key, body)
}

// postWaiting writes the submission of somebody who waits for the job's end.
func postWaiting(buffer []byte, key, body string) []byte {
	return postWith(buffer, "/v1/jobs", "Prefer: wait=10\r\n", key, body)
}

func postWith(buffer []byte, path, header, key, body string) []byte {
	buffer = append(buffer, "POST "...)
	buffer = append(buffer, path...)
	buffer = append(buffer, " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer dev-key\r\nContent-Type: application/json\r\n"...)
	buffer = append(buffer, header...)
	buffer = append(buffer, "Idempotency-Key: "...)
	buffer = append(buffer, key...)
	buffer = append(buffer, "\r\nContent-Length: "...)
	buffer = strconv.AppendInt(buffer, int64(len(body)), 10)
	buffer = append(buffer, "\r\n\r\n"...)
	return append(buffer, body...)
}

func get(buffer []byte, path string) []byte {
	buffer = append(buffer, "GET "...)
	buffer = append(buffer, path...)
	return append(buffer, " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer dev-key\r\n\r\n"...)
}

func newKey() string { return "k" + strconv.FormatInt(keys.Add(1), 10) }

// submitBody is the body of every submission.
var submitBody = fmt.Sprintf(`{"route":"print","input":{"text":%q}}`, text)

// submits makes a new job with every request.
func submits(buffer []byte, _, _ int) ([]byte, int) {
	return post(buffer, "/v1/jobs", newKey(), submitBody), 202
}

// floors is the same request, answered by a floor.
func floors(buffer []byte, _, _ int) ([]byte, int) {
	return post(buffer, "/", newKey(), submitBody), 202
}
