package seat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/identity"
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
func (l *Lock) Refuse(ctx context.Context, r *NotAdmitted) error {
	if r.Full && r.Err == nil {
		r.Err = ErrQueueFull
	}
	if r.Err == nil || r.Ahead > 0 && (r.Full || ctx.Err() != nil) {
		l.noteOutage(ctx, r)
		return l.cfg.NotAcquired(l.notAcquired(r))
	}
	return l.OpError(r.Err)
}

// RefuseLimit is Refuse for an acquire of n leases, where the semaphore's limit
// is lower.
func (l *Lock) RefuseLimit(r *NotAdmitted, n, limit int) error {
	e := l.notAcquired(r)
	e.Leases, e.Limit = n, limit
	return l.cfg.NotAcquired(e)
}

// noteOutage records that there is no connection at the end of a wait: those
// ahead may not be to blame.
func (l *Lock) noteOutage(ctx context.Context, r *NotAdmitted) {
	if !reason.IsOfContext(ctx, r.Err) || framework.IsConnectionError(r.Err) {
		return
	}
	if why := framework.Extend(l.cfg.Client).NotConnected(); why != nil {
		r.Err = fmt.Errorf("%w (last error: %w)", reason.OfContext(ctx), why)
	}
}

func (l *Lock) notAcquired(r *NotAdmitted) NotAcquired {
	e := NotAcquired{
		Op: l.cfg.Op, Path: l.cfg.Name, Ahead: r.Ahead, Holder: r.Holder, HolderData: bytes.Clone(r.HolderData), Err: r.Err,
		Own:       r.HolderSession != 0 && r.HolderSession == l.cfg.Client.SessionID(),
		Reentrant: l.cfg.Reenters != nil && l.cfg.Reenters(r.Holder) && identity.Read(r.HolderData).KeptUntil.IsZero(),
		Unowned:   r.Unowned,
		Seen:      r.Seen,
	}
	if !r.Seen.IsZero() {
		e.Age = time.Since(r.Seen)
	}
	return e
}

// OpError adds the lock's call and path to an error.
func (l *Lock) OpError(err error) error { return l.ErrorOf(l.cfg.Op, err) }

// ErrorOf is OpError for another call.
func (l *Lock) ErrorOf(op string, err error) error {
	if err == nil {
		return nil
	}
	return &framework.OpError{Op: op, Path: l.cfg.Name, Err: err}
}
