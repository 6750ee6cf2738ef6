package seat

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// acquired is the lease of an acquire in the background.
type acquired struct {
	t     *testing.T
	lease *Lease
	err   error
	done  chan struct{}
}

// acquire begins an acquire, and returns when it can go on no more.
func acquire(t *testing.T, l *Lock) *acquired { return acquireUnder(t.Context(), t, l) }

func acquireUnder(ctx context.Context, t *testing.T, l *Lock) *acquired {
	a := &acquired{t: t, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.lease, a.err = l.Acquire(ctx, true)
	}()
	synctest.Wait()
	return a
}

func (a *acquired) waits() bool {
	synctest.Wait()
	return !isClosed(a.done)
}

// won waits for the lease.
func (a *acquired) won() *Lease {
	<-a.done
	require.NoError(a.t, a.err)
	return a.lease
}

func (a *acquired) release() { require.NoError(a.t, a.won().Release(a.t.Context())) }

// connect returns another client.
func connect(t *testing.T, srv *zktest.Server) *framework.Client {
	c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// Readers join for a short time after a listing. Then one looks again, for all.
//
// Promise: Readers that share a node list the queue again after a bounded time.
func TestReadersJoinForAShortTimeAfterAListing(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		m := readers(c)
		first := acquire(t, m)
		node := first.won().Path()
		looks := srv.Inject(zktest.Rule{Optional: true, Op: zkinside.OpGetChildren2, Times: -1, Do: zktest.Call(func(zktest.Request) {})})
		time.Sleep(joinsFor)
		acquire(t, m).release()
		require.Zero(t, looks.Hits())
		time.Sleep(time.Millisecond)
		for range 3 {
			joined := acquire(t, m)
			require.Equal(t, node, joined.won().Path())
			joined.release()
			require.Equal(t, 1, looks.Hits())
		}
		first.release()
		require.Empty(t, srv.Children("/l"))
	})
}

// A writer of another client queues. Readers who come after the next listing have a
// node behind it.
//
// Promise: A writer of another client waits for no reader that comes after the next listing.
func TestWriterOfAnotherClientClosesTheDoor(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		first := acquire(t, readers(c))
		node := first.won().Path()
		writer := acquire(t, writers(connect(t, srv)))
		require.True(t, writer.waits())
		early := acquire(t, readers(c))
		require.Equal(t, node, early.won().Path(), "the listing is new")
		time.Sleep(2 * joinsFor)
		late := acquire(t, readers(c))
		require.True(t, late.waits())
		require.Len(t, srv.Children("/l"), 3)
		first.release()
		require.True(t, writer.waits())
		early.release()
		require.NotEqual(t, node, writer.won().Path())
		require.True(t, late.waits())
		writer.release()
		late.release()
	})
}

// A reader that is admitted ahead of a writer shares its node with nobody: the
// listing that admitted it has the writer.
//
// Promise: No reader joins a node whose listing has a writer.
func TestListingWithAWriterClosesTheDoor(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		other := connect(t, srv)
		before, writer := acquire(t, writers(other)), (*acquired)(nil)
		reader := acquire(t, readers(c))
		require.True(t, reader.waits())
		writer = acquire(t, writers(connect(t, srv)))
		before.release()
		node := reader.won().Path()
		joining := acquire(t, readers(c))
		require.True(t, joining.waits())
		reader.release()
		writer.release()
		require.NotEqual(t, node, joining.won().Path())
		joining.release()
	})
}

// A writer in the line closes the door to readers of its client that come later.
//
// Promise: Readers do not pass a writer of their client that waits in the process.
func TestWriterInTheLineClosesTheDoor(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		first := acquire(t, readers(c))
		writer := acquire(t, writers(c))
		late := acquire(t, readers(c))
		require.True(t, writer.waits())
		require.True(t, late.waits())
		first.release()
		writer.won()
		require.True(t, late.waits())
		writer.release()
		late.release()
	})
}

// A writer in the line gives up. The readers behind it go on.
//
// Promise: Readers continue when the writer ahead of them in the process gives up.
func TestWriterThatLeavesTheLineOpensTheDoor(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		first := acquire(t, readers(c))
		q := first.won().Hold().seat.lane
		writer := &waiter{of: writers(c)}
		lanes.arrive(q.key, writer)
		late := acquire(t, readers(c))
		require.True(t, late.waits())
		q.leaveLine(writer)
		require.False(t, late.waits())
		require.Equal(t, first.won().Path(), late.won().Path())
		first.release()
		require.NoError(t, late.won().Context().Err())
		require.Len(t, srv.Children("/l"), 1, "it goes with the last")
		late.release()
		require.Empty(t, srv.Children("/l"))
	})
}

// With a cached lock, a watch tells of a writer. Nobody joins behind that, however
// short ago the queue was listed.
func TestNoReaderJoinsAfterAnEventOfTheWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		m := readers(c, parks)
		first := acquire(t, m)
		first.won()
		time.Sleep(2 * joinsFor)
		second := acquire(t, m) // sets the watch
		require.Same(t, first.won().Hold().seat, second.won().Hold().seat)
		writer := acquire(t, writers(connect(t, srv)))
		require.True(t, writer.waits())
		third := acquire(t, m)
		require.True(t, third.waits(), "it is behind the writer")
		first.release()
		second.release()
		writer.release()
		third.release()
	})
}

// A reader waits behind a writer, and its session ends. The writer releases the lock. A
// try that arrives while the reader queues again waits for the answer to that, as it
// would for its own.
func TestTryOfAReaderAfterALostSessionIsNotRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		writer := acquire(t, writers(connect(t, srv)))
		writer.won()
		first := acquire(t, readers(c))
		require.True(t, first.waits())
		srv.Session(c.SessionID()).Expire()
		writer.release()
		create := srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayRequest(time.Second)})
		require.NoError(t, c.WaitConnected(t.Context()))
		for create.Hits() == 0 {
			time.Sleep(time.Millisecond)
		}
		lease, err := readers(c).Acquire(t.Context(), false)
		require.NoError(t, err)
		require.NotNil(t, lease, "it was refused")
		require.Equal(t, first.won().Path(), lease.Path())
		first.release()
		require.NoError(t, lease.Release(t.Context()))
	})
}
