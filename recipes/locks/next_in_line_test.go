package locks_test

import (
	"path"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// pair has a holder, and the next in line on a separate client.
type pair struct {
	*world
	one, two *framework.Client
	network  *recipetest.Network // of two
	holder   *locks.Lease
	next     *locktest.Pending
	node     string // the path of the next one's
}

func (w *world) pair(t *testing.T, first, second func(c *framework.Client) locks.Locker) *pair {
	t.Helper()
	p := &pair{world: w}
	p.one, _ = w.Connect(t)
	p.two, p.network = w.Connect(t)
	p.holder = hold(t, w.Patience(t), first(p.one))
	p.next = take(w.Patience(t), second(p.two))
	time.Sleep(time.Second)
	dir := path.Dir(p.holder.Path())
	for _, name := range w.Fake.Children(dir) {
		if dir+"/"+name != p.holder.Path() {
			p.node = dir + "/" + name
		}
	}
	return p
}

// handOver releases the lock, and returns the requests until the next has it.
func (p *pair) handOver(t *testing.T) []zktest.Op {
	t.Helper()
	synctest.Wait()
	p.Fake.ClearRequests()
	require.NoError(t, p.holder.Release(t.Context()))
	p.next.Wait(t)
	synctest.Wait()
	return p.Requests()
}

// requestsOf returns what a client has asked for.
func (p *pair) requestsOf(c *framework.Client) (ops []zktest.Op) {
	for _, r := range p.Fake.Requests() {
		if r.Session == c.SessionID() && r.Op != zkinside.OpPing && r.Op != zktest.OpConnect {
			ops = append(ops, r.Op)
		}
	}
	return ops
}

// In these cases an event does not say who is the first, and the next in line
// looks at the queue.
//
// Promise: After a reconnect, the next waiter lists the queue before it is admitted.
// Promise: A waiter whose create was sent twice lists the queue before it is admitted.
func TestNextInLineLooksWhereAnEventProvesNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		first, second func(c *framework.Client) locks.Locker
		before        func(t *testing.T, w *world)
		meanwhile     func(t *testing.T, p *pair)
	}{
		"a reconnect": {
			mutexAt, mutexAt, nil,
			func(t *testing.T, p *pair) {
				p.network.Cut()
				require.NoError(t, p.two.WaitConnected(t.Context()))
				time.Sleep(time.Second)
			},
		},
		"a writer after a writer": {writerAt, writerAt, nil, nil},
		"a node that was made with a second try": {
			mutexAt, mutexAt,
			func(t *testing.T, w *world) {
				require.NoError(t, w.Fake.Create("/l", nil))
				w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/l/*", After: 1, Do: zktest.DropReply()})
			}, nil,
		},
		"a node that it may not read": {
			mutexAt, mutexAt,
			func(t *testing.T, w *world) {
				w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, After: 1, Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
			}, nil,
		},
		"no numbers left": {
			mutexAt, mutexAt,
			func(t *testing.T, w *world) {
				require.NoError(t, w.Fake.Create("/l", nil))
				require.NoError(t, zkinside.Of(w.Fake).SetSequence("/l", 1<<31-2))
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				if tc.before != nil {
					tc.before(t, w)
				}
				p := w.pair(t, tc.first, tc.second)
				if tc.meanwhile != nil {
					tc.meanwhile(t, p)
				}
				require.Contains(t, p.handOver(t), zktest.Op(zkinside.OpGetChildren2))
				require.NoError(t, p.next.Lease.Release(t.Context()))
				w.NothingLeft(t, "/l")
			})
		})
	}
}

// Promise: The next waiter is admitted by the deletion of the holder's node and by no other change.
func TestNextInLineIsNotAdmittedByAChangeOfTheHoldersNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.pair(t, mutexAt, mutexAt)
		for range 3 {
			require.NoError(t, w.Fake.Set(p.holder.Path(), []byte("a change")))
			time.Sleep(time.Second)
			require.False(t, p.next.IsOver())
		}
		p.handOver(t)
		require.NoError(t, p.next.Lease.Release(t.Context()))
		w.NothingLeft(t, "/l")
	})
}

// An operator deletes both nodes at once. The next in line learns of both deletions,
// and has no place in the queue any more.
//
// Promise: A waiter whose own node was deleted is not admitted.
func TestNextInLineHasNothingWithoutItsNode(t *testing.T) {
	for range 20 {
		inVirtualTime(t, func(t *testing.T, w *world) {
			p := w.pair(t, mutexAt, mutexAt)
			_, err := w.Observer.Transaction(t.Context(),
				framework.DeleteOp(p.node, framework.AnyVersion), framework.DeleteOp(p.holder.Path(), framework.AnyVersion))
			require.NoError(t, err)
			lease := p.next.Wait(t)
			require.NotEqual(t, p.node, lease.Path())
			time.Sleep(time.Minute)
			require.NoError(t, lease.Context().Err())
			require.NoError(t, lease.Release(t.Context()))
			w.NothingLeft(t, "/l")
		})
	}
}

// The one ahead gives up, and others are still ahead of that.
//
// Promise: A waiter that had several contenders ahead lists the queue before it is admitted.
func TestWaiterThatHadOthersAheadLooks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.pair(t, mutexAt, mutexAt)
		three, _ := w.Connect(t)
		third := take(t.Context(), mutexAt(three))
		time.Sleep(time.Second)
		require.NoError(t, p.two.Close())
		time.Sleep(time.Second)
		require.False(t, third.IsOver())
		require.NoError(t, p.holder.Release(t.Context()))
		require.NoError(t, third.Wait(t).Release(t.Context()))
		w.NothingLeft(t, "/l")
	})
}

// The third in the queue takes its own watch when the holder goes, while the second
// works. So the second hand-over, too, costs the deletion alone.
//
// Promise: The third in the queue is admitted without a look when it has become the next before.
func TestThirdInLineTakesTheLockWithoutALook(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.pair(t, mutexAt, mutexAt)
		three, _ := w.Connect(t)
		third := take(t.Context(), mutexAt(three))
		time.Sleep(time.Second)
		require.Equal(t, []zktest.Op{zktest.OpDelete, zktest.OpGetData}, p.handOver(t), "the third watches itself")
		second := p.next.Lease
		p.holder, p.next = second, third
		require.Equal(t, []zktest.Op{zktest.OpDelete}, p.handOver(t))
		require.NoError(t, third.Lease.Release(t.Context()))
		w.NothingLeft(t, "/l")
	})
}

// Behind a writer that goes on as a reader, and a reader, the third is not the next
// when the writer's node is deleted.
//
// Promise: A writer is not admitted while a writer ahead of the reader ahead has downgraded to a reader.
func TestThirdWriterDoesNotEnterBesideADowngradedReader(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.pair(t, writerAt, readerAt)
		three, _ := w.Connect(t)
		third := take(t.Context(), writerAt(three))
		time.Sleep(time.Second)
		downgraded := hold(t, p.holder.Context(), readerAt(p.one))
		require.NoError(t, p.holder.Release(t.Context()))
		time.Sleep(time.Second) // the third has noticed that before the reader goes
		require.NoError(t, p.next.Wait(t).Release(t.Context()))
		time.Sleep(time.Second)
		require.False(t, third.IsOver())
		require.NoError(t, downgraded.Release(t.Context()))
		require.NoError(t, third.Wait(t).Release(t.Context()))
		w.NothingLeft(t, "/l")
	})
}

// A writer goes on as a reader, in its own place. The writer behind it is on
// another client.
//
// Promise: A writer is not admitted while a writer ahead has downgraded to a reader.
func TestNextWriterDoesNotEnterBesideADowngradedReader(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.pair(t, writerAt, writerAt)
		reader := hold(t, p.holder.Context(), readerAt(p.one))
		require.NoError(t, p.holder.Release(t.Context()))
		time.Sleep(time.Second)
		require.False(t, p.next.IsOver())
		require.NoError(t, reader.Release(t.Context()))
		require.NoError(t, p.next.Wait(t).Release(t.Context()))
		w.NothingLeft(t, "/l")
	})
}

// Another client asks a waiter for the lock. The waiter learns of the request when it
// has the lock, by the watch that it had before.
//
// Promise: A holder receives a revocation request that was written before the grant.
func TestHolderReceivesARequestFromBeforeTheGrant(t *testing.T) {
	for name, ask := range map[string]func(t *testing.T, p *pair){
		"while it waits": func(t *testing.T, p *pair) {
			require.NoError(t, locks.Revoke(t.Context(), p.Observer, p.node))
			time.Sleep(time.Second)
			p.handOver(t)
		},
		"at the grant": func(t *testing.T, p *pair) {
			_, err := p.Observer.Transaction(t.Context(),
				framework.DeleteOp(p.holder.Path(), framework.AnyVersion), framework.SetOp(p.node, []byte("__REVOKE__"), framework.AnyVersion))
			require.NoError(t, err)
			p.next.Wait(t)
		},
		"when it holds the lock": func(t *testing.T, p *pair) {
			p.handOver(t)
			require.NoError(t, locks.Revoke(t.Context(), p.Observer, p.node))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				p := w.pair(t, mutexAt, mutexAt)
				ask(t, p)
				time.Sleep(time.Minute)
				require.True(t, recipetest.IsClosed(p.next.Lease.Revoked()))
				require.NoError(t, p.next.Lease.Context().Err())
				require.NoError(t, p.next.Lease.Release(t.Context()))
				w.NothingLeft(t, "/l")
			})
		})
	}
}
