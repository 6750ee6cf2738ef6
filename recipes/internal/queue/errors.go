package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/identity"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// Package locks exports these errors.
var (
	ErrNotAcquired = errors.New("not acquired")
	ErrQueueFull   = errors.New("queue is full")
)

// NotAcquired has the fields of locks.NotAcquiredError. They are documented
// there.
type NotAcquired struct {
	Op         string
	Path       string
	Ahead      int
	Holder     string
	HolderData []byte
	Own        bool
	Reentrant  bool
	Unowned    string
	Leases     int
	Limit      int
	Seen       time.Time
	Age        time.Duration
	Err        error
}

// Refuse returns the error of an acquire that was not admitted. It names those
// ahead if they are the reason. They are not if the server has refused us, or
// could not be asked. There may be none ahead: a semaphore's limit can be zero.
func (q *Queue) Refuse(ctx context.Context, r *lockloop.NotAdmitted) error {
	if r.Full && r.Err == nil {
		r.Err = ErrQueueFull
	}
	if r.Err == nil || r.Ahead > 0 && (r.Full || ctx.Err() != nil) {
		q.noteOutage(ctx, r)
		return q.cfg.NotAcquired(q.notAcquired(r))
	}
	return q.OpError(r.Err)
}

// RefuseLimit is Refuse for an acquire of n leases, where the semaphore's limit
// is lower.
func (q *Queue) RefuseLimit(r *lockloop.NotAdmitted, n, limit int) error {
	e := q.notAcquired(r)
	e.Leases, e.Limit = n, limit
	return q.cfg.NotAcquired(e)
}

// noteOutage records that there is no connection at the end of a wait: those
// ahead may not be to blame.
func (q *Queue) noteOutage(ctx context.Context, r *lockloop.NotAdmitted) {
	if !reason.IsOfContext(ctx, r.Err) || framework.IsConnectionError(r.Err) {
		return
	}
	if why := framework.Extend(q.cfg.Client).NotConnected(); why != nil {
		r.Err = fmt.Errorf("%w (last error: %w)", reason.OfContext(ctx), why)
	}
}

func (q *Queue) notAcquired(r *lockloop.NotAdmitted) NotAcquired {
	e := NotAcquired{
		Op: q.cfg.Op, Path: q.cfg.Name, Ahead: r.Ahead, Holder: r.Holder, HolderData: bytes.Clone(r.HolderData), Err: r.Err,
		Own:       r.HolderSession != 0 && r.HolderSession == q.cfg.Client.SessionID(),
		Reentrant: q.cfg.Reenters != nil && q.cfg.Reenters(r.Holder) && identity.Read(r.HolderData).KeptUntil.IsZero(),
		Unowned:   r.Unowned,
		Seen:      r.Seen,
	}
	if !r.Seen.IsZero() {
		e.Age = time.Since(r.Seen)
	}
	return e
}

// OpError adds the queue's call and path to an error.
func (q *Queue) OpError(err error) error { return q.ErrorOf(q.cfg.Op, err) }

// ErrorOf is OpError for another call.
func (q *Queue) ErrorOf(op string, err error) error {
	if err == nil {
		return nil
	}
	return &framework.OpError{Op: op, Path: q.cfg.Name, Err: err}
}
