package seat

import (
	"context"
	"path"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/testing/zktest"
)

// three are the holder, the next, and the third in a queue, each of a separate client.
type three struct {
	srv                 *zktest.Server
	c                   *framework.Client // the third's
	holder, next, third *acquired
	leave               context.CancelFunc // ends the third's context
	node                string             // the third's
}

func withThree(t *testing.T, test func(t *testing.T, q *three)) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		q := &three{srv: srv, c: c}
		q.holder = acquire(t, mutex(connect(t, srv)))
		q.holder.won()
		q.next = acquire(t, mutex(connect(t, srv)))
		before := srv.Children("/l")
		ctx, leave := context.WithCancel(t.Context())
		q.leave = leave
		q.third = acquireUnder(ctx, t, mutex(c))
		isOld := func(name string) bool { return slices.Contains(before, name) }
		q.node = "/l/" + slices.DeleteFunc(srv.Children("/l"), isOld)[0]
		time.Sleep(2 * thirdAfter)
		synctest.Wait()
		test(t, q)
	})
}

// However a third in the queue becomes the next, it is alone when it enters, and enters
// when it can.
func TestThirdInTheQueue(t *testing.T) {
	readsSlowly := func(q *three) {
		q.srv.Inject(zktest.Rule{Op: zktest.OpGetData, Path: q.node, Do: zktest.DelayReply(time.Second)})
	}
	for name, do := range map[string]func(t *testing.T, q *three){
		"each releases": func(t *testing.T, q *three) {
			q.holder.release()
			q.next.release()
		},
		"the next leaves while the third reads its node": func(t *testing.T, q *three) {
			readsSlowly(q)
			q.holder.release()
			q.next.release()
		},
		"its node is deleted while it is read": func(t *testing.T, q *three) {
			readsSlowly(q)
			q.holder.release()
			synctest.Wait()
			require.NoError(t, q.srv.Delete(q.node))
			q.next.release()
		},
		"its node is deleted before it is read": func(t *testing.T, q *three) {
			q.srv.Inject(zktest.Rule{Op: zktest.OpGetData, Path: q.node, Do: zktest.DelayRequest(time.Second)})
			q.holder.release()
			synctest.Wait()
			require.NoError(t, q.srv.Delete(q.node))
			q.next.release()
		},
		"the holder's data changes": func(t *testing.T, q *three) {
			require.NoError(t, q.srv.Set(q.holder.won().Path(), []byte("x")))
			time.Sleep(time.Second)
			q.holder.release()
			time.Sleep(time.Second)
			q.next.release()
		},
		"the connection breaks between": func(t *testing.T, q *three) {
			q.holder.release()
			q.srv.Session(q.c.SessionID()).Cut()
			time.Sleep(time.Second)
			q.next.release()
		},
		"the connection breaks, and both are gone": func(t *testing.T, q *three) {
			q.srv.Session(q.c.SessionID()).Cut()
			q.holder.release()
			q.next.release()
		},
		"the connection breaks, all are gone, and another has come": func(t *testing.T, q *three) {
			q.srv.Session(q.c.SessionID()).Cut()
			require.NoError(t, q.srv.Delete(q.node))
			q.holder.release()
			q.next.release()
			other := acquire(t, mutex(connect(t, q.srv)))
			other.won()
			time.Sleep(time.Second)
			require.True(t, q.third.waits())
			other.release()
		},
	} {
		t.Run(name, func(t *testing.T) {
			withThree(t, func(t *testing.T, q *three) {
				do(t, q)
				lease := q.third.won()
				require.NoError(t, context.Cause(lease.Context()))
				time.Sleep(2 * time.Second)
				require.NoError(t, context.Cause(lease.Context()))
				require.Len(t, q.srv.Children("/l"), 1)
				q.third.release()
				require.Empty(t, q.srv.Children("/l"))
				synctest.Wait()
				require.Zero(t, insider.Of(q.c).Watches())
			})
		})
	}
}

// The context of a third ends at every moment.
func TestThirdThatGivesUpLeavesNothing(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, q *three){
		"as the third": func(*testing.T, *three) {},
		"as the next":  func(t *testing.T, q *three) { q.holder.release() },
		"while it reads its own node": func(t *testing.T, q *three) {
			q.srv.Inject(zktest.Rule{Op: zktest.OpGetData, Path: q.node, Do: zktest.DelayReply(time.Hour)})
			q.holder.release()
		},
	} {
		t.Run(name, func(t *testing.T) {
			withThree(t, func(t *testing.T, q *three) {
				do(t, q)
				synctest.Wait()
				start := time.Now()
				q.leave()
				<-q.third.done
				require.ErrorIs(t, q.third.err, context.Canceled)
				require.Zero(t, time.Since(start))
				time.Sleep(2 * time.Hour)
				require.NotContains(t, q.srv.Children("/l"), path.Base(q.node))
				require.Zero(t, insider.Of(q.c).Watches())
			})
		})
	}
}
