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
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/internal/recipetest"
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
		var all []*recipetest.Pending
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
	recipetest.Valve
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
		readers := []*recipetest.Pending{take(ctx, readLock(c, path))}
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
		var readers []*recipetest.Pending
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

// Readers and writers of one client are admitted in the order of arrival,
// although most of them wait in the process.
func TestReadersAndWritersOfOneClientKeepTheirOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		var all []*recipetest.Pending
		for i := range 40 {
			side := readLock
			if i%4 == 0 {
				side = writeLock
			}
			all = append(all, take(ctx, side(c, path)))
			synctest.Wait()
		}
		require.Len(t, w.Nodes(t, path), 8, "two writers, and the readers behind each")
		for len(all) > 0 {
			require.True(t, all[0].IsOver(), "a writer")
			for _, p := range all[1:] {
				require.False(t, p.IsOver())
			}
			require.NoError(t, all[0].Wait(t).Release(ctx))
			synctest.Wait()
			for _, p := range all[1:4] {
				require.True(t, p.IsOver(), "a reader")
			}
			for _, p := range all[4:] {
				require.False(t, p.IsOver())
			}
			for _, p := range all[1:4] {
				require.NoError(t, p.Wait(t).Release(ctx))
			}
			all = all[4:]
			synctest.Wait()
		}
		w.NothingLeft(t, path)
	})
}

// Readers wait in the process behind a writer that gives up there. They go on
// at that moment.
func TestReadersGoOnWhenTheWriterBeforeThemGivesUpInTheProcess(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		queue := []*recipetest.Pending{take(ctx, writeLock(c, path))}
		synctest.Wait()
		queue = append(queue, take(ctx, writeLock(c, path)))
		synctest.Wait()
		going := take(recipetest.Within(t, time.Minute), writeLock(c, path))
		synctest.Wait()
		for range 5 {
			queue = append(queue, take(ctx, readLock(c, path)))
		}
		synctest.Wait()
		require.Len(t, w.Nodes(t, path), 2)
		_, err := readLock(c, path).TryAcquire(ctx)
		require.Equal(t, 8, notAcquired(t, err).Ahead)
		<-going.Done
		require.ErrorIs(t, going.Err, context.DeadlineExceeded)
		w.WaitNodes(t, path, 7)
		for _, p := range queue {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}

// A reader of this client has released the lock, and another still has it.
// A writer that does not come to see the queue is told of that one.
func TestWriterIsToldOfTheReaderThatIsLeft(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t, framework.WithServiceName("readers"))
		staying, going := hold(t, ctx, readLock(c, path)), hold(t, ctx, readLock(c, path))
		require.NoError(t, going.Release(ctx))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.DelayRequest(time.Minute)})
		refuse := func() *locks.NotAcquiredError {
			_, err := writeLock(c, path).Acquire(recipetest.Within(t, time.Second))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			return notAcquired(t, err)
		}
		refused := refuse()
		require.Equal(t, staying.Path(), path+"/"+refused.Holder)
		require.Equal(t, "readers", refused.Identity().Service)
		require.True(t, refused.Own)
		require.Equal(t, 1, refused.Ahead)
		require.NoError(t, staying.Release(ctx))
	})
}

// Many goroutines of several clients read and write. A writer is alone, and
// readers are together.
func TestCrowdsOfReadersAndWritersShareALock(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		var in inside
		var all sync.WaitGroup
		use := func(l locks.Locker, readers, writers int) {
			lease, err := l.Acquire(ctx)
			if !assert.NoError(t, err) {
				return
			}
			if now := in.add(readers, writers, 0); now.writers != writers || writers > 0 && now.readers > 0 {
				t.Error("a writer is not alone")
			}
			time.Sleep(time.Millisecond)
			in.add(-readers, -writers, 0)
			assert.NoError(t, lease.Release(ctx))
		}
		for range 3 {
			c, _ := w.Connect(t)
			for i := range 60 {
				all.Go(func() {
					if i%6 == 0 {
						use(writeLock(c, path), 0, 1)
					} else {
						use(readLock(c, path), 1, 0)
					}
				})
			}
		}
		all.Wait()
		require.Greater(t, in.together, 1)
		w.NothingLeft(t, path)
	})
}

// Many goroutines of each client read and write, while the connections and the
// sessions of the clients break. Some give up. A writer is alone, and nothing
// is left.
func TestCrowdsOfReadersAndWritersUnderRandomFaults(t *testing.T) {
	t.Parallel()
	const crowd = 8
	var in inside
	var writes, reads atomic.Int32
	use := func(ctx context.Context, c *framework.Client, round int) {
		limited, cancel := context.WithTimeout(ctx, time.Duration(1+round%20)*time.Second)
		defer cancel()
		if round%4 != 0 {
			if l, err := readLock(c, "/l").Acquire(limited); err == nil {
				if now := in.add(1, 0, 0); now.writers != 0 {
					t.Error("a reader is beside a writer")
				}
				reads.Add(1)
				stay(l, round)
				in.add(-1, 0, 0)
				l.Release(ctx)
			}
			return
		}
		if l, err := writeLock(c, "/l").Acquire(limited); err == nil {
			if now := in.add(0, 1, 0); now.writers != 1 || now.readers != 0 {
				t.Error("a writer is not alone")
			}
			if !in.write(l.FencingToken()) {
				t.Error("token does not grow")
			}
			writes.Add(1)
			stay(l, round)
			in.add(0, -1, 0)
			l.Release(ctx)
		}
	}
	underRandomFaults(t, 3, func(ctx context.Context, i, round int, c *framework.Client) {
		var all sync.WaitGroup
		for j := range crowd {
			all.Go(func() { use(ctx, c, i+round*crowd+j) })
		}
		all.Wait()
	}, func(t *testing.T, w *world) { w.NothingLeft(t, "/l") })
	t.Log(writes.Load(), "writes", reads.Load(), "reads", in.together, "readers at once")
	require.Greater(t, writes.Load(), inTroubledTime(100))
	require.Greater(t, reads.Load(), inTroubledTime(200))
	require.Greater(t, in.together, crowd/2)
}

// A reader that comes later is not behind those that came before it, and have
// given up since.
func TestReadersThatHaveGivenUpAreNotAhead(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		other, _ := w.Connect(t)
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writeLock(other, path))
		waiting := take(ctx, readLock(c, path))
		synctest.Wait()
		w.Fake.ClearRequests()
		for range 3 {
			_, err := readLock(c, path).Acquire(recipetest.Within(t, time.Millisecond))
			require.Equal(t, 2, notAcquired(t, err).Ahead)
		}
		require.Zero(t, w.Fake.CountRequests(zktest.OpGetChildren2), "they follow the news")
		require.NoError(t, writer.Release(ctx))
		require.NoError(t, waiting.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}
