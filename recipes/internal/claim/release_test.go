package claim

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// A leader dissolves its claim when it sees the end of the lease's context. The
// server's answer still reaches the release that has ended the context.
func TestReleaseThatALeaderSees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, srv := heldClaim(t)
		lease := c.First(t.Context())
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
		dissolved := make(chan error, 1)
		whenItEnds(lease, func() { dissolved <- c.Dissolve(t.Context()) })
		require.ErrorIs(t, lease.Release(t.Context()), zk.ErrNoAuth)
		require.ErrorIs(t, <-dissolved, zk.ErrNoAuth)
		require.Equal(t, Released, c.State())
	})
}

// whenItEnds has another goroutine act as soon as the lease's context has ended. If
// the claim is not locked then, that goroutine comes before the next step of the
// release, and goes as far as it can.
func whenItEnds(l *Lease, act func()) {
	end, seen := l.end, false
	l.end = func(cause error) {
		end(cause)
		if seen {
			return
		}
		seen = true
		free := l.claim.mu.TryLock()
		if free {
			l.claim.mu.Unlock()
		}
		go act()
		if free {
			synctest.Wait()
		}
	}
}

// A release does not wait for the node if its context has ended. A leader who
// dissolves the claim meanwhile still does.
func TestDissolveWaitsForTheNodeOfAReleaseThatDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, srv := heldClaim(t)
		lease := c.First(t.Context())
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.DelayRequest(time.Second)})
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, lease.Release(ended))
		require.NoError(t, c.Dissolve(t.Context()))
		_, exists := srv.Node("/n")
		require.False(t, exists)
	})
}

// A leader waits for another goroutine's release no longer than its own context
// allows, and says so.
func TestDissolveDuringAReleaseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, srv := heldClaim(t)
		lease := c.First(t.Context())
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DelayRequest(5 * time.Second)})
		released := make(chan error, 1)
		go func() { released <- lease.Release(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, c.Dissolve(ctx), context.DeadlineExceeded)
		require.NoError(t, <-released)
	})
}
