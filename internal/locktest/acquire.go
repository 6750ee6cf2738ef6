package locktest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// Acquire returns a lease, or fails the test.
func Acquire(t testing.TB, ctx context.Context, l locks.Locker) *locks.Lease {
	t.Helper()
	lease, err := l.Acquire(ctx)
	require.NoError(t, err)
	return lease
}

// Pending is an acquire that is under way.
type Pending struct {
	Lease *locks.Lease // set when the acquire is over, like Err
	Err   error
	Done  chan struct{} // closed when the acquire is over
}

// AcquireLater begins an acquire.
func AcquireLater(ctx context.Context, l locks.Locker) *Pending {
	p := &Pending{Done: make(chan struct{})}
	go func() {
		defer close(p.Done)
		p.Lease, p.Err = l.Acquire(ctx)
	}()
	return p
}

// Wait waits for the lease.
func (p *Pending) Wait(t testing.TB) *locks.Lease {
	t.Helper()
	<-p.Done
	require.NoError(t, p.Err)
	return p.Lease
}

// IsOver reports whether the acquire has returned.
func (p *Pending) IsOver() bool { return recipetest.IsClosed(p.Done) }
