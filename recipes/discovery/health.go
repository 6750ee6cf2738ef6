package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/nodes"
)

// HealthCheck is a function that says whether an instance works, and how often
// it is asked. Fields that are zero have a default.
//
// The instance begins as one that drains, until the check has passed once. While
// the check fails, the instance drains: it stays visible, with the same node,
// and is not picked. It is not deleted, for three reasons: its clients can
// finish, readers hear of one small change, and nobody else can take its ID. A
// format that cannot say that an instance drains is an error of
// NewRegistration.
type HealthCheck struct {
	// Check returns nil if the instance works. It should return when its context
	// ends. A check that does not has failed, and goes on: the next one begins
	// when it has returned, and Close of the client waits for it. So it may call
	// the Registration, and must not close the client.
	Check func(ctx context.Context) error

	// Interval is the time from the end of a check to the next, by default 10
	// seconds. Timeout is the time that a check has, by default 5 seconds.
	Interval, Timeout time.Duration

	// Failures is how many checks in a row have to fail before the instance
	// drains, by default 3. Passes is how many have to pass before it is back, by
	// default 2.
	Failures, Passes int
}

func (h *HealthCheck) complete() error {
	switch {
	case h.Check == nil:
		return invalid("health check", "nil", "must have a function")
	case h.Interval < 0 || h.Timeout < 0:
		return invalid("health check", fmt.Sprint(h.Interval, " ", h.Timeout), "must not have negative durations")
	case h.Failures < 0 || h.Passes < 0:
		return invalid("health check", fmt.Sprint(h.Failures, " ", h.Passes), "must not have negative counts")
	}
	h.Interval, h.Timeout = cmp.Or(h.Interval, 10*time.Second), cmp.Or(h.Timeout, 5*time.Second)
	h.Failures, h.Passes = cmp.Or(h.Failures, 3), cmp.Or(h.Passes, 2)
	return nil
}

// errNotChecked is why an instance begins as one that drains.
var errNotChecked = errors.New("no health check has passed yet")

// health is the goroutine that checks an instance.
type health struct {
	HealthCheck
	r    *Registration
	life follow.Life
	runs <-chan error // what a check will return that has not done so; or nil

	last    atomic.Pointer[error] // why the last check failed that has
	passed  bool                  // a check has passed
	failing bool
	against int // how many checks in a row have said the opposite
}

func watchHealth(r *Registration, c HealthCheck) (*health, error) {
	h := &health{HealthCheck: c, r: r, failing: true}
	h.life = follow.Life{Client: r.client, Closed: nodes.ErrClosed, Run: h.run}
	return h, h.life.Start()
}

// run checks until ctx ends, or the registration does. What is to be written is
// tried again with each check. An outage, or an update that has the turn, delays
// it, and no check.
func (h *health) run(ctx context.Context) error {
	for first := true; ; first = false {
		err := h.check(ctx)
		if ctx.Err() != nil {
			return reason.OfContext(ctx)
		}
		if err != nil {
			h.last.Store(&err)
		}
		if h.count(err == nil) || first && h.failing {
			h.tell(err)
		}
		next := time.NewTimer(h.Interval)
		if h.failing != (h.r.wanted().failing != nil) {
			h.write(ctx)
		}
		select {
		case <-next.C:
		case <-h.r.Done():
		case <-ctx.Done():
		}
		next.Stop()
		if err := h.r.Err(); err != nil {
			return err
		}
	}
}

// count takes a verdict, and reports whether it turns the state.
func (h *health) count(passed bool) (turned bool) {
	if passed != h.failing {
		h.against = 0
		return false
	}
	h.against++
	if h.against < h.enough() {
		return false
	}
	h.passed = true
	h.failing, h.against = !h.failing, 0
	return true
}

// enough returns how many checks in a row turn the state. The first pass ends the
// drain that an instance begins with.
func (h *health) enough() int {
	switch {
	case !h.passed:
		return 1
	case h.failing:
		return h.Passes
	}
	return h.Failures
}

func (h *health) tell(err error) {
	if h.failing {
		h.r.events.Emit(eventFailing, err)
	} else {
		h.r.events.Emit(eventPassing, nil)
	}
}

// write has the node say whether the instance fails. An error is no news: the
// node's own follow from its state, and a write that has given up follows later.
func (h *health) write(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, h.Interval)
	defer cancel()
	var why error
	if h.failing {
		why = h.failure()
	}
	h.r.change(ctx, func(w *wanted) { w.failing = why })
}

// failure returns why the last check failed that has. Anybody may call it.
func (h *health) failure() error {
	if last := h.last.Load(); last != nil {
		return *last
	}
	return errNotChecked
}

// check returns the verdict of a new check, which begins when the one before has
// returned. Each has its time. One that takes longer has failed, and so has one that
// ends its goroutine.
func (h *health) check(ctx context.Context) error {
	inTime, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	late := h.runs != nil
	if !late {
		returned := make(chan error, 1)
		started := framework.Extend(h.r.client).Go(func(context.Context) {
			err := follow.ErrNoReturn
			defer func() { returned <- err }()
			err = h.Check(inTime)
		})
		if !started {
			return framework.ErrClosed
		}
		h.runs = returned
	}
	select {
	case err := <-h.runs:
		h.runs = nil
		if late {
			return h.check(ctx)
		}
		return err
	case <-inTime.Done():
		return reason.OfContext(inTime)
	}
}
