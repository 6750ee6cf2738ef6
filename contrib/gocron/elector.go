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
// A leader that is cut off stops to lead before the next one begins. But the next
// one may run a job that the last has just run, if their clocks differ. A job that
// must not be run twice needs a [Locker].
type Elector struct{ latch *leader.Latch }

var _ gocron.Elector = (*Elector)(nil)

// NewElector returns an Elector for a latch, which its owner shuts down. If the
// latch is nil, that is the error of all that the Elector does.
func NewElector(latch *leader.Latch) *Elector { return &Elector{latch} }

// IsLeader is for gocron, which calls it before each run of a job. It makes no
// request. If this process does not lead, the error is ErrNotLeader.
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

// UnderLeadership returns a function for gocron.NewTask: the context of work ends
// with the job's, and with the leadership. The cause, from context.Cause, says
// why. If the leadership is over already, the function returns ErrNotLeader, and
// does not call work. If work is nil, that is its error.
func (e *Elector) UnderLeadership(work func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		lease, err := e.lease()
		if err != nil {
			return err
		}
		return under(ctx, lease, work)
	}
}
