package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/redis/go-redis/v9"

	"onejob/jobs"
)

// retryStore is when to try again after the store was away.
const retryStore = 2 * time.Second

// statusClientGone is what the log shows for a client that hung up before its
// answer; nobody sees it.
const statusClientGone = 499

// answerError is the one place where errors become answers.
func (s *Server) answerError(err error, c echo.Context) {
	if c.Response().Committed {
		s.logOf(c).Warn("answer broke off", "error", err)
		return
	}
	p := problemOf(err)
	if c.Request().Context().Err() != nil && (errors.Is(err, context.Canceled) || p.kind == &problemStoreUnavailable) {
		c.Response().WriteHeader(statusClientGone) // also where a mounted page says so in words of its own
		return
	}
	if p.Job != "" {
		callOf(c).jobID = p.Job
	}
	s.logProblem(c, p)
	p.prepare(c.Response().Header(), s.config.ProblemBase, callOf(c).requestID)
	answer := p.write
	if shaped, ok := s.mountedAt(c.Request().URL.Path).(ProblemAnswerer); ok {
		answer = func(w http.ResponseWriter) error { return shaped.AnswerProblem(w, p) }
	}
	if err := answer(c.Response()); err != nil {
		s.logOf(c).Debug("problem not delivered", "error", err)
	}
}

func (s *Server) logProblem(c echo.Context, p *Problem) {
	if p.kind.Status < http.StatusInternalServerError {
		return // the caller's own, and told to him
	}
	s.logOf(c).Error("request failed", "problem", p.kind.Name, "error", p.cause)
}

// problemOf judges any error a handler can return.
func problemOf(err error) *Problem {
	var p *Problem
	var refusal *jobs.Refusal
	var newer *jobs.NewerSchema
	var framework *echo.HTTPError
	var namer ProblemNamer
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &namer):
		return named(namer)
	case errors.As(err, &refusal):
		return refused(refusal)
	case errors.As(err, &newer):
		return recordNewer(newer)
	case errors.Is(err, jobs.ErrBadCursor):
		return newProblem(&problemRequestInvalid, "The cursor is not one this list has given.").at("after")
	case errors.As(err, &framework):
		return problemOfStatus(framework)
	case unreachable(err):
		return storeUnavailable(err)
	}
	return newProblem(&problemInternal, "The request could not be answered.").because(err)
}

// retryNewer is when another process of this address may have been asked.
const retryNewer = 5 * time.Second

// recordNewer is the answer for a job that this process cannot read. Nothing was
// written. It is given before it is known whose job it is.
func recordNewer(n *jobs.NewerSchema) *Problem {
	p := newProblem(&problemRecordNewer, "The record of this job has schema %s; this process reads up to %d. Nothing was changed.",
		n.Schema, jobs.Schema).because(n)
	p.retryAfter = retryNewer
	return p
}

func storeUnavailable(err error) *Problem {
	detail := "The store did not answer in time."
	if answered, ok := errors.AsType[redis.Error](err); ok {
		// Its first word, such as OOM or READONLY; the rest may name keys.
		code, _, _ := strings.Cut(answered.Error(), " ")
		detail = fmt.Sprintf("The store answered that it cannot serve now (%s).", code)
	}
	p := newProblem(&problemStoreUnavailable, "%s", detail).because(err)
	p.retryAfter = retryStore
	return p
}

// unreachable tells whether the store could not be asked, or answered that it
// cannot serve now: the request is fine and may be sent again.
func unreachable(err error) bool {
	var network net.Error
	var answered redis.Error
	return errors.As(err, &network) || errors.As(err, &answered) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, redis.ErrClosed) || errors.Is(err, redis.ErrPoolTimeout)
}

// problemOfStatus judges what the framework refused before a handler saw it.
func problemOfStatus(err *echo.HTTPError) *Problem {
	switch err.Code {
	case http.StatusNotFound:
		return newProblem(&problemNotFound, "Nothing is served at this address.")
	case http.StatusMethodNotAllowed:
		return newProblem(&problemMethod, "This address does not answer that method.")
	case http.StatusRequestEntityTooLarge:
		return tooLarge(maxBody).because(err)
	case http.StatusUnsupportedMediaType:
		return newProblem(&problemMediaType, "The media type is not supported.").because(err)
	}
	if err.Code >= http.StatusInternalServerError {
		return newProblem(&problemInternal, "The request could not be answered.").because(err)
	}
	return newProblem(&problemRequestInvalid, "The request cannot be understood.").because(err)
}
