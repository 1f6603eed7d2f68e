package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"onejob/app"
	"onejob/client"
	"onejob/config"
)

// printShop is what `onejob dev` is: one process with an embedded Redis and the
// route print. It returns its address.
func printShop(ctx context.Context) (address string, stop func()) {
	cfg, err := config.Demo(config.WithAddr("127.0.0.1:0"))
	if err != nil {
		panic(err)
	}
	a := app.New(cfg, app.WithAPI(), app.WithWorker(), app.WithEmbeddedRedis(), app.WithDevKeys())
	if err := a.Start(ctx); err != nil {
		panic(err)
	}
	return "http://" + a.Addr(), func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		_ = a.Close()
	}
}

// Do submits an intent and waits for its result. The same request with the same key
// is the same job, from wherever it is sent.
func ExampleClient_Do() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	address, stop := printShop(ctx)
	defer stop()

	c, err := client.New(address, "dev-key")
	if err != nil {
		panic(err)
	}
	request := client.Request{Route: "print", Key: "page-1", Input: map[string]string{"page": "Hello"}}
	first, err := c.Do(ctx, request)
	if err != nil {
		panic(err)
	}
	second, err := c.Do(ctx, request)
	if err != nil {
		panic(err)
	}
	fmt.Println(first.State, len(first.Attempts), "attempt")
	fmt.Println("the same job:", first.ID == second.ID, "replayed:", second.Replayed)
	// Output:
	// succeeded 1 attempt
	// the same job: true replayed: true
}

// A job that fails is an error of Do, with the job and its reason in it.
func ExampleClient_Do_failed() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	address, stop := printShop(ctx)
	defer stop()

	c, err := client.New(address, "dev-key")
	if err != nil {
		panic(err)
	}
	_, err = c.Do(ctx, client.Request{Route: "print", Input: map[string]any{
		"simulate": map[string]any{"inkjet": map[string]string{"outcome": "reject"}},
	}})
	if failed, ok := errors.AsType[*client.JobError](err); ok {
		fmt.Println(failed.Job.State, failed.Job.Error.Code)
	}
	// Output: failed rejected
}

// The first connection stalls after the server has made the job. The client gives
// it up, sends the same bytes under the same key, and finds the job.
func ExampleClient_Submit_stalledConnection() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	address, stop := printShop(ctx)
	defer stop()
	var posts atomic.Int64
	target, _ := url.Parse(address)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.Request.Method == http.MethodPost && posts.Add(1) == 1 {
			<-r.Request.Context().Done() // nobody hears of it
		}
		return nil
	}
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	stalling := httptest.NewServer(proxy)
	defer stalling.Close()

	c, err := client.New(stalling.URL, "dev-key", client.WithTryTimeout(time.Second))
	if err != nil {
		panic(err)
	}
	job, err := c.Submit(ctx, client.Request{Route: "print", Input: "Hello"})
	if err != nil {
		panic(err)
	}
	fmt.Println("asked", posts.Load(), "times; the job was there:", job.Replayed)
	job, err = c.Wait(ctx, job.ID)
	if err != nil {
		panic(err)
	}
	fmt.Println(job.State)
	// Output:
	// asked 2 times; the job was there: true
	// succeeded
}

// A key is bound to one intent: with another input it is refused.
func ExampleClient_Submit_conflict() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	address, stop := printShop(ctx)
	defer stop()

	c, err := client.New(address, "dev-key")
	if err != nil {
		panic(err)
	}
	first, err := c.Submit(ctx, client.Request{Route: "print", Key: "page-1", Input: "Hello"})
	if err != nil {
		panic(err)
	}
	_, err = c.Submit(ctx, client.Request{Route: "print", Key: "page-1", Input: "Goodbye"})
	var problem *client.Problem
	if errors.Is(err, client.ErrConflict) && errors.As(err, &problem) {
		fmt.Println(problem.Status, problem.Name, "by the first job:", problem.Job == first.ID)
	}
	// Output: 409 idempotency-key-reused by the first job: true
}

// When the context ends before an answer, the error carries the key, with which the
// same intent is submitted again.
func ExampleUnknownError() {
	ctx, cancel := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel() // the caller has no more time
		<-r.Context().Done()
	}))
	defer server.Close()

	c, err := client.New(server.URL, "dev-key")
	if err != nil {
		panic(err)
	}
	_, err = c.Submit(ctx, client.Request{Route: "print", Input: "Hello"})
	if unknown, ok := errors.AsType[*client.UnknownError](err); ok {
		fmt.Println("a job may exist; its key is kept:", unknown.Key != "")
	}
	// Output: a job may exist; its key is kept: true
}

// Events follows a job while it happens.
func ExampleClient_Events() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	address, stop := printShop(ctx)
	defer stop()

	c, err := client.New(address, "dev-key")
	if err != nil {
		panic(err)
	}
	job, err := c.Submit(ctx, client.Request{Route: "print", Input: "Hello"})
	if err != nil {
		panic(err)
	}
	for event, err := range c.Events(ctx, job.ID, "") {
		if err != nil {
			panic(err)
		}
		fmt.Println(event.Verb, event.To)
	}
	// Output:
	// submit starting
	// claim running
	// finalize succeeded
}

// List goes through all pages, newest first.
func ExampleClient_List() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	address, stop := printShop(ctx)
	defer stop()

	c, err := client.New(address, "dev-key")
	if err != nil {
		panic(err)
	}
	for _, key := range []string{"page-1", "page-2", "page-3"} {
		if _, err := c.Do(ctx, client.Request{Route: "print", Key: key}); err != nil {
			panic(err)
		}
	}
	for job, err := range c.List(ctx, client.Query{State: client.Succeeded, PageSize: 2}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(job.IdempotencyKey, job.State)
	}
	// Output:
	// page-3 succeeded
	// page-2 succeeded
	// page-1 succeeded
}
