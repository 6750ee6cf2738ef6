package locks_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func writeLock(c *framework.Client, path string) locks.Locker {
	return locks.NewInterProcessReadWriteLock(c, path).WriteLock()
}

// distant makes every answer take some time, so that requests of a crowd are
// under way together.
func distant(w *world) {
	w.Fake.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayReply(5 * time.Millisecond)})
}

// A handler takes the read lock for each of thousands of requests that come at
// once, while a writer has it. Each has a node. But they list the nodes
// together, and wait for the writer together.
func TestThousandsOfReadersBehindAWriterLookTogether(t *testing.T) {
	n := thorough.Size(3000, 500)
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		other, _ := w.Connect(t, framework.WithServiceName("writer"))
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writeLock(other, path))
		distant(w)
		w.Fake.ClearRequests()
		var all sync.WaitGroup
		for range n {
			all.Go(func() { cycle(t, ctx, readLock(c, path)) })
		}
		time.Sleep(time.Minute)
		require.Len(t, w.Fake.Children(path), n+1)
		requests := w.Fake.CountRequests(zktest.OpAny)
		require.Less(t, requests, n+n/5, "a create for each, and some looks")
		require.LessOrEqual(t, w.Fake.CountRequests(zktest.OpGetData), 2)

		w.Fake.ClearRequests()
		require.NoError(t, writer.Release(ctx))
		all.Wait()
		require.LessOrEqual(t, w.Fake.CountRequests(zktest.OpGetChildren2), 1, "one look for all")
		require.LessOrEqual(t, w.Fake.CountRequests(zktest.OpAny), n+20, "a delete for each")
		require.EqualValues(t, 1, sessionNumber(t, c))
		w.NothingLeft(t, path)
	})
}

// Readers that come at once to a lock that nobody has each make a node, and
// list the nodes together.
func TestReadersThatComeAtOnceShareListings(t *testing.T) {
	const n = 500
	for name, acquire := range map[string]func(locks.Locker, context.Context) (*locks.Lease, error){
		"acquire": locks.Locker.Acquire, "try": locks.Locker.TryAcquire,
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				require.NoError(t, hold(t, ctx, readLock(c, path)).Release(ctx)) // makes the path
				distant(w)
				w.Fake.ClearRequests()
				var all sync.WaitGroup
				for range n {
					all.Go(func() {
						lease, err := acquire(readLock(c, path), ctx)
						if assert.NoError(t, err) {
							time.Sleep(time.Second)
							assert.NoError(t, lease.Release(ctx))
						}
					})
				}
				all.Wait()
				require.Less(t, w.Fake.CountRequests(zktest.OpGetChildren2), n/10)
				w.NothingLeft(t, path)
			})
		})
	}
}

// Requests that come one after the other do not list the nodes either, while
// there is news of the writer that they wait for.
func TestReaderThatComesLaterFollowsTheNews(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		other, _ := w.Connect(t, framework.WithServiceName("writer"))
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writeLock(other, path))
		var all []*locktest.Pending
		come := func() []zktest.Op {
			w.Fake.ClearRequests()
			all = append(all, take(ctx, readLock(c, path)))
			synctest.Wait()
			return w.Requests()
		}
		looks := []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetData}
		require.Equal(t, looks, come())
		for range 20 {
			require.Equal(t, looks[:1], come())
		}
		_, err := readLock(c, path).Acquire(recipetest.Within(t, time.Millisecond))
		refused := notAcquired(t, err)
		require.Equal(t, "writer", refused.Identity().Service)
		require.Equal(t, 22, refused.Ahead)

		time.Sleep(2 * time.Second)
		require.Equal(t, looks[:2], come()[:2], "the news is old")
		require.NoError(t, writer.Release(ctx))
		for _, p := range all {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}

// The reader that sets the watch for all gives up while it does, or while all
// wait. The others go on waiting.
//
// Promise: Readers that share a watch keep it if the reader that set it leaves.
func TestReadersOutlastTheOneThatWatchesForThem(t *testing.T) {
	for when, reads := range map[time.Duration]int{time.Second / 2: 2, 2 * time.Second: 1} {
		t.Run(fmt.Sprint(when), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				other, _ := w.Connect(t)
				c, _ := w.Connect(t)
				writer := hold(t, ctx, writeLock(other, path))
				time.Sleep(2 * time.Second) // the writer has begun to watch its node
				w.Fake.ClearRequests()
				w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Session: c.SessionID(), Do: zktest.DelayReply(time.Second)})
				going := take(recipetest.Within(t, when), readLock(c, path))
				synctest.Wait()
				staying := take(ctx, readLock(c, path))
				<-going.Done
				require.ErrorIs(t, going.Err, context.DeadlineExceeded)
				time.Sleep(time.Second)
				require.Equal(t, reads, w.Fake.CountRequests(zktest.OpGetData))
				require.Len(t, w.Fake.Watches(), 2, "one of the writer, and one of the reader")
				require.NoError(t, writer.Release(ctx))
				require.NoError(t, staying.Wait(t).Release(ctx))
				w.NothingLeft(t, path)
			})
		})
	}
}

// All readers but one give up while one of them lists the nodes for all. The
// last one lists them itself.
func TestReadersOutlastTheOneThatListsForThem(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		other, _ := w.Connect(t)
		c, _ := w.Connect(t)
		for range 5 { // any of them may be the one that lists
			writer := hold(t, ctx, writeLock(other, path))
			leaving, cancel := context.WithCancel(ctx)
			for range 9 {
				take(leaving, readLock(c, path))
			}
			staying := take(ctx, readLock(c, path))
			w.WaitNodes(t, path, 11)
			slow := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren2, Session: c.SessionID(), Do: zktest.DelayReply(time.Second)})
			require.NoError(t, writer.Release(ctx))
			synctest.Wait()
			cancel()
			require.NoError(t, staying.Wait(t).Release(ctx))
			require.Equal(t, 1, slow.Hits())
			w.NothingLeft(t, path)
		}
	})
}

// operationPanics is a tracer that panics once at the begin of an operation.
type operationPanics struct {
	locktest.Valve
	at atomic.Pointer[string]
}

func (p *operationPanics) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	if at := p.at.Load(); at != nil && op.Name == *at && p.at.CompareAndSwap(at, nil) {
		panic("no tracer")
	}
	return ctx
}

// The tracer panics in a request that one reader makes for all. The others go
// on, and no watch is left.
func TestReadersOutlastAPanicOfTheTracer(t *testing.T) {
	for _, op := range []string{"get", "children"} {
		t.Run(op, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				tracer := &operationPanics{}
				other, _ := w.Connect(t)
				c, _ := w.Connect(t, framework.WithHooks(tracer))
				first := hold(t, ctx, writeLock(other, path))
				second := take(ctx, writeLock(other, path))
				w.WaitNodes(t, path, 2)
				var panics atomic.Int32
				var all sync.WaitGroup
				come := func() {
					all.Go(func() {
						defer func() {
							if recover() != nil {
								panics.Add(1)
							}
						}()
						cycle(t, ctx, readLock(c, path))
					})
				}
				if op == "get" {
					tracer.at.Store(&op)
				}
				for range 5 {
					come()
				}
				time.Sleep(time.Minute)
				if op == "children" {
					tracer.at.Store(&op)
				}
				require.NoError(t, first.Release(ctx))
				require.NoError(t, second.Wait(t).Release(ctx))
				all.Wait()
				require.EqualValues(t, 1, panics.Load())
				w.NothingLeft(t, path)
			})
		})
	}
}

// The create of a reader makes two nodes. The reader deletes one of them when it
// looks, together with others.
func TestReaderInACrowdDeletesItsOtherNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		other, _ := w.Connect(t)
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writeLock(other, path))
		readers := []*locktest.Pending{take(ctx, readLock(c, path))}
		synctest.Wait()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Call(func(r zktest.Request) {
			_ = w.Fake.Create(r.Path+"0000000009", nil)
		})})
		readers = append(readers, take(ctx, readLock(c, path)))
		w.WaitNodes(t, path, 4)
		require.NoError(t, writer.Release(ctx))
		for _, p := range readers {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}

// A reader's create is sent twice, and makes two nodes, as on a server that lags
// behind. The reader deletes one of them before it waits with others: it may
// give up then.
//
// Promise: A reader whose create was sent twice leaves no second node.
func TestReaderThatGivesUpInACrowdLeavesNoOtherNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		other, _ := w.Connect(t)
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writeLock(other, path))
		reader := take(ctx, readLock(c, path))
		synctest.Wait()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropRequest()})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, After: 1, Do: zktest.Call(func(r zktest.Request) {
			_ = w.Fake.Create(r.Path+"0000000009", nil)
		})})
		_, err := readLock(c, path).Acquire(recipetest.Within(t, 900*time.Millisecond)) // the news is still fresh
		notAcquired(t, err)
		require.NoError(t, writer.Release(ctx))
		require.NoError(t, reader.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}

// A reader's node is deleted while it waits with others. It queues again when it
// looks.
func TestReaderInACrowdNoticesThatItsNodeIsGone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		other, _ := w.Connect(t)
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writeLock(other, path))
		var readers []*locktest.Pending
		for range 3 {
			readers = append(readers, take(ctx, readLock(c, path)))
			synctest.Wait()
		}
		for _, name := range w.Nodes(t, path) {
			if path+"/"+name != writer.Path() {
				require.NoError(t, w.Fake.Delete(path+"/"+name))
			}
		}
		require.NoError(t, writer.Release(ctx))
		for _, p := range readers {
			require.NoError(t, p.Wait(t).Context().Err())
		}
		require.Len(t, w.Nodes(t, path), 3)
		for _, p := range readers {
			require.NoError(t, p.Lease.Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}

// Somebody makes nodes that look like those of a reader's create, and deletes its
// own. It is not admitted without that one.
func TestReaderWhoseNodeIsGoneIsNotAdmittedByItsOtherNodes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		other, _ := w.Connect(t)
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writeLock(other, path))
		reader := take(ctx, readLock(c, path))
		synctest.Wait()
		for _, name := range w.Nodes(t, path) {
			if id, _, ok := strings.Cut(name, "__READ__"); ok {
				require.NoError(t, w.Fake.Create(path+"/"+id+"__READ__0000000008", nil))
				require.NoError(t, w.Fake.Create(path+"/"+id+"__READ__0000000009", nil))
				require.NoError(t, w.Fake.Delete(path+"/"+name))
			}
		}
		require.NoError(t, writer.Release(ctx))
		lease := reader.Wait(t)
		require.Contains(t, w.Fake.Children(path), strings.TrimPrefix(lease.Path(), path+"/"))
		require.NoError(t, lease.Release(ctx))
	})
}

// The session ends while readers wait together. Each makes one node in the next
// session, and all go on.
func TestReadersInACrowdGoOnInTheNextSession(t *testing.T) {
	const n = 60 // so many that most of them list the nodes together
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		other, _ := w.Connect(t)
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writeLock(other, path))
		for range 3 {
			var all sync.WaitGroup
			for range n {
				all.Go(func() { cycle(t, ctx, readLock(c, path)) })
			}
			w.WaitNodes(t, path, n+1)
			w.Fake.ClearRequests()
			w.Fake.Session(c.SessionID()).Expire()
			time.Sleep(time.Second)
			require.Len(t, w.Nodes(t, path), n+1)
			require.Equal(t, n, w.Fake.CountRequests(zktest.OpCreate))
			require.NoError(t, writer.Release(ctx))
			all.Wait()
			writer = hold(t, ctx, writeLock(other, path))
		}
		require.NoError(t, writer.Release(ctx))
		w.NothingLeft(t, path)
	})
}
