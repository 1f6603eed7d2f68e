package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/labstack/echo/v4"
	"github.com/redis/go-redis/v9"
)

// floorCommand makes this program one of the servers onejob is held against.
const floorCommand = "floor"

// Floors: what a service does that does less.
const (
	floorEcho    = "echo"    // reads the body and answers
	floorSetNX   = "setnx"   // and reserves the key
	floorEnqueue = "enqueue" // and puts a task on a queue instead
	floorWorked  = "worked"  // and takes it off again, with a handler that does nothing
)

// floorWorkers is how many tasks that one works on at once.
const floorWorkers = 64

// runFloor serves one of them: kind, address, Redis.
func runFloor(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: bench floor KIND ADDR REDIS")
	}
	options, err := redis.ParseURL(args[2])
	if err != nil {
		return fmt.Errorf("reading the address of Redis: %w", err)
	}
	rdb := redis.NewClient(options)
	if args[0] == floorWorked {
		worker := asynq.NewServerFromRedisClient(rdb, asynq.Config{Concurrency: floorWorkers, LogLevel: asynq.ErrorLevel})
		if err := worker.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })); err != nil {
			return fmt.Errorf("starting the worker: %w", err)
		}
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/readyz", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.POST("/", floorHandler(args[0], rdb))
	return e.Start(args[1])
}

func floorHandler(kind string, rdb *redis.Client) echo.HandlerFunc {
	queue := asynq.NewClientFromRedisClient(rdb)
	return func(c echo.Context) error {
		body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, 1<<20))
		if err != nil {
			return err
		}
		key := c.Request().Header.Get("Idempotency-Key")
		switch kind {
		case floorSetNX:
			err = setNX(c.Request().Context(), rdb, key, body)
		case floorEnqueue, floorWorked:
			_, err = queue.EnqueueContext(c.Request().Context(), asynq.NewTask("work", body), asynq.TaskID(key))
		}
		if err != nil {
			return err
		}
		return c.JSONBlob(http.StatusAccepted, floorAnswer)
	}
}

// floorAnswer is as long as a job without its input.
var floorAnswer = []byte(`{"id":"` + strings.Repeat("x", 500) + `"}`)

func setNX(ctx context.Context, rdb *redis.Client, key string, body []byte) error {
	return rdb.SetNX(ctx, "floor:"+key, body, time.Hour).Err()
}
