package soak_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"time"

	"onejob/auth"
)

// operate is somebody who has the pages of one API open all the time: a live page,
// and each few seconds a look at another.
func (w *world) operate(ctx context.Context, base string) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return // it is documented to give none
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	defer browser.CloseIdleConnections()
	for ctx.Err() == nil {
		_ = signIn(ctx, browser, base) // a session that is there already will do
		w.live(ctx, browser, base)
		pause(ctx, time.Second)
	}
}

var proof = regexp.MustCompile(`name="?proof"? value="?([0-9a-zA-Z_-]+)`)

func signIn(ctx context.Context, browser *http.Client, base string) error {
	form, err := fetch(ctx, browser, base+"/dashboard/login")
	if err != nil {
		return err
	}
	found := proof.FindStringSubmatch(form)
	if found == nil {
		return errors.New("signed in already, or the form is another")
	}
	values := url.Values{"key": {auth.DevOperatorKey}, "proof": {found[1]}}
	response, err := browser.PostForm(base+"/dashboard/login", values)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	return nil
}

// live looks at pages beside an open event stream until that breaks.
func (w *world) live(ctx context.Context, browser *http.Client, base string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/dashboard/stream", http.NoBody)
	if err != nil {
		return
	}
	request.Header.Set("Accept", "text/event-stream")
	response, err := browser.Do(request)
	if err != nil {
		return
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusOK {
		w.operated.Add(1)
	}
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, response.Body)
	}()
	for pages := []string{"/", "/jobs", "/unknown", "/providers", "/store"}; pause(ctx, 2*time.Second); pages = append(pages[1:], pages[0]) {
		_, _ = fetch(ctx, browser, base+"/dashboard"+pages[0])
	}
}

func fetch(ctx context.Context, browser *http.Client, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", "text/html")
	response, err := browser.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}
