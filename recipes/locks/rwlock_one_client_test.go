package locks_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Readers and writers of one client are admitted in the order of arrival,
// although most of them wait in the process.
//
// Promise: Readers and writers of one client keep the order in which they arrive.
func TestReadersAndWritersOfOneClientKeepTheirOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		var all []*locktest.Pending
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
//
// Promise: Readers continue when the writer ahead of them in the process gives up.
func TestReadersGoOnWhenTheWriterBeforeThemGivesUpInTheProcess(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		queue := []*locktest.Pending{take(ctx, writeLock(c, path))}
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
