package gocron

import (
	"context"
	"errors"

	"github.com/go-co-op/gocron/v2"

	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// ErrNotLeader means that this process does not lead.
var ErrNotLeader = errors.New("not the leader")

// Elector is a gocron.Elector: the jobs of a scheduler run while its process
// leads. It is safe for concurrent use.
//
// A partitioned leader stops leading before the next leader begins. But if the clocks
// differ, the next leader may run a job that the last leader has just run. A job that
// must not run twice needs a [Locker].
type Elector struct{ latch *leader.Latch }

var _ gocron.Elector = (*Elector)(nil)

// NewElector returns an Elector for a latch. The caller shuts the latch down. If the
// latch is nil, all methods of the Elector return an error.
func NewElector(latch *leader.Latch) *Elector { return &Elector{latch} }

// IsLeader is called by gocron before each run of a job. IsLeader makes no request. If
// this process does not lead, the error is ErrNotLeader.
func (e *Elector) IsLeader(context.Context) error {
	_, err := e.lease()
	return err
}

// lease returns the leadership of this process.
func (e *Elector) lease() (*locks.Lease, error) {
	if e.latch == nil {
		return nil, isNil("latch")
	}
	lease := e.latch.Leadership()
	if lease == nil {
		return nil, ErrNotLeader
	}
	return lease, nil
}

// UnderLeadership returns a function for gocron.NewTask: the context of work ends with
// the job's context or with the leadership. context.Cause returns the reason. If the
// leadership has already ended, the function returns ErrNotLeader without calling work.
// If work is nil, the function returns an error.
func (e *Elector) UnderLeadership(work func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		lease, err := e.lease()
		if err != nil {
			return err
		}
		return under(ctx, lease, work)
	}
}
