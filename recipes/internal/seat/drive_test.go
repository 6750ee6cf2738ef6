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

// A driver that gives up leaves its node to the next goroutine of its kind, which
// keeps its client's place in the queue.
//
// Promise: A waiter that gives up leaves its place in the queue to the next waiter of its client.
func TestDriverThatGivesUpLeavesItsNodeToTheNext(t *testing.T) {
	for name, of := range map[string][2]func(*framework.Client, ...func(*Config)) *Lock{
		"of the same kind": {mutex, mutex},
		"writer, reader":   {writers, readers},
		"reader, writer":   {readers, writers},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				holder := acquire(t, of[0](connect(t, srv)))
				if name == "reader, writer" {
					holder.release()
					holder = acquire(t, writers(connect(t, srv)))
				}
				ctx, leave := context.WithCancel(t.Context())
				left := make(chan error)
				go func() {
					_, err := of[0](c).Acquire(ctx, true)
					left <- err
				}()
				synctest.Wait()
				nodes := srv.Children("/l")
				require.Len(t, nodes, 2)
				next := acquire(t, of[1](c))
				leave()
				require.ErrorIs(t, <-left, context.Canceled)
				require.True(t, next.waits())
				if name == "of the same kind" {
					require.ElementsMatch(t, nodes, srv.Children("/l"))
				} else {
					require.NotEqual(t, nodes, srv.Children("/l"), "its node is of another kind")
				}
				require.Len(t, srv.Children("/l"), 2)
				holder.release()
				next.release()
				require.Empty(t, srv.Children("/l"))
			})
		})
	}
}

// An operator deletes the node of a holder, and another goroutine of the client gets
// the lock before the holder's watch tells of that. The holder loses it at once.
//
// Promise: A grant ends what the same client still holds of the lock.
func TestGrantEndsWhatItsClientHeldBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		data := func(text string) func(*Config) {
			return func(cfg *Config) { cfg.SetData([]byte(text)) }
		}
		first := acquire(t, mutex(c, data("one")))
		require.NoError(t, srv.Delete(first.won().Path()))
		second := acquire(t, mutex(c, data("another"))) // in another lane
		second.won()
		synctest.Wait()
		require.ErrorIs(t, context.Cause(first.won().Context()), ErrNodeDeleted)
		require.NoError(t, context.Cause(second.won().Context()))
		require.Less(t, time.Since(second.won().Hold().seat.granted), watchAfter)
		second.release()
	})
}

// The node of the next goroutine is made after the deletion of the one before: it does
// not wait for that. All of it takes one round trip.
//
// Promise: The next goroutine of a client queues as soon as the holder's node is being deleted, and never before.
func TestNextNodeIsMadeBehindTheDeletion(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		m := mutex(c)
		first := acquire(t, m)
		first.won()
		next := acquire(t, m)
		require.True(t, next.waits())
		require.Len(t, srv.Children("/l"), 1)
		const way = time.Second
		for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpDelete, zkinside.OpGetChildren2} {
			srv.Inject(zktest.Rule{Optional: true, Op: op, Times: -1, Do: zktest.DelayReply(way)})
		}
		reads := srv.Inject(zktest.Rule{Optional: true, Op: zktest.OpGetData, Times: -1, Do: zktest.Call(func(zktest.Request) {})})
		start := time.Now()
		go first.won().Release(t.Context())
		next.won()
		require.Equal(t, way, time.Since(start))
		require.Zero(t, reads.Hits(), "it has waited for the node before")
		next.release()
	})
}

// A refusal that would meet all who wait meets them together.
func TestRefusalOfADriverIsEverybodys(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/l", nil))
		refused := srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/l/*", Times: -1, Do: zktest.All(
			zktest.DelayRequest(time.Second), zktest.Fail(zktest.ErrNoAuth))})
		start, m := time.Now(), mutex(c)
		first, second, third := acquire(t, m), acquire(t, m), acquire(t, m)
		for _, a := range []*acquired{first, second, third} {
			<-a.done
			require.Error(t, a.err)
		}
		require.Equal(t, time.Second, time.Since(start))
		require.Equal(t, 1, refused.Hits())
		require.Zero(t, lanesOf(c))
	})
}

// Those who wait with another view of the client learn the path as they know it.
func TestRefusalNamesThePathInTheViewOfItsCaller(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		view, err := c.Namespace("/a")
		require.NoError(t, err)
		refused := srv.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.All(
			zktest.DelayRequest(time.Second), zktest.Fail(zktest.ErrNoAuth))})
		whole := mutex(c, func(cfg *Config) { cfg.Path = "/a/l" })
		first, second, third := acquire(t, mutex(view)), acquire(t, whole), acquire(t, mutex(view))
		<-first.done
		<-third.done
		require.ErrorContains(t, first.err, "create /l/lock-")
		require.ErrorContains(t, third.err, "create /l/lock-")
		<-second.done
		require.ErrorContains(t, second.err, "create /a/l/lock-")
		require.Equal(t, 2, refused.Hits())
		require.Zero(t, lanesOf(c))
	})
}
