package kratos_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kratos/kratos/v2/registry"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"

	zookeeper "github.com/gocurator/curator/contrib/kratos"
)

func TestGetService(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		_, err := p.GetService(w.Patience(t), "orders")
		require.ErrorIs(t, err, zk.ErrNoNode, "there was never such a service")
		require.ErrorContains(t, err, `"orders"`)
		w.put(t, replica("b"))
		w.put(t, replica("a"))
		list, err := p.GetService(w.Patience(t), "orders")
		require.NoError(t, err)
		require.Equal(t, []*registry.ServiceInstance{replica("a"), replica("b")}, list)
		require.NoError(t, w.Fake.Delete(folder+"/a"))
		require.NoError(t, w.Fake.Delete(folder+"/b"))
		list, err = p.GetService(w.Patience(t), "orders")
		require.NoError(t, err)
		require.Empty(t, list)
		w.NoWatches(t)
	})
}

// GetService of a service that is watched makes no request, and an outage changes
// nothing.
func TestGetServiceThatIsWatched(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a"))
		p := w.process(t)
		require.Equal(t, []string{"a"}, next(t, w.watch(t, p)))
		w.Fake.ClearRequests()
		list, err := p.GetService(w.Patience(t), "orders")
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, ids(list))
		require.Empty(t, w.Requests())
		p.network.Isolate()
		time.Sleep(time.Hour)
		list, err = p.GetService(w.Patience(t), "orders")
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, ids(list))
		_, err = p.GetService(recipetest.Within(t, time.Second), "payments")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, framework.ErrNotConnected)
	})
}

// A service without an instance is looked for, and an outage is waited for, however
// long it is.
func TestGetServiceWithoutInstancesInAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a"))
		p := w.process(t)
		watcher := w.watch(t, p)
		require.Equal(t, []string{"a"}, next(t, watcher))
		require.NoError(t, w.Fake.Delete(folder+"/a"))
		require.Empty(t, next(t, watcher))
		heal := p.network.Isolate()
		answers := make(chan answer, 1)
		go func() {
			list, err := p.GetService(w.Patience(t), "orders")
			answers <- answer{ids(list), err}
		}()
		time.Sleep(time.Hour)
		require.Empty(t, answers)
		_, err := p.GetService(recipetest.Within(t, time.Minute), "orders")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		heal()
		require.Equal(t, answer{ids: []string{}}, <-answers)
	})
}

// The first list is told at once, also if it is empty, and then each that differs,
// however long nobody calls Next.
func TestWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		watcher := w.watch(t, p)
		require.Empty(t, next(t, watcher))
		waits := begin(watcher)
		w.put(t, replica("a"))
		require.Equal(t, []string{"a"}, (<-waits).ids)
		w.put(t, replica("b"))
		w.put(t, replica("c"))
		require.NoError(t, w.Fake.Delete(folder+"/a"))
		synctest.Wait()
		require.Equal(t, []string{"b", "c"}, next(t, watcher), "changes between two calls are one")
		waits = begin(watcher)
		time.Sleep(time.Hour)
		require.Empty(t, waits, "nothing is new")
		require.NoError(t, w.Fake.Delete(folder+"/b"))
		require.Equal(t, []string{"c"}, (<-waits).ids, "an instance that has gone goes at once")
		require.NoError(t, w.Fake.Delete(folder+"/c"))
		require.Empty(t, next(t, watcher))
		require.NoError(t, w.Fake.Delete(folder))
		waits = begin(watcher)
		w.put(t, replica("d"))
		require.Equal(t, []string{"d"}, (<-waits).ids, "also when the folder was gone")
	})
}

// What Next returns is the caller's: kratos sorts in it.
func TestListsAreTheCallers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a"))
		p := w.process(t)
		first, second := w.watch(t, p), w.watch(t, p)
		list, err := first.Next()
		require.NoError(t, err)
		list[0].Endpoints[0], list[0].Metadata["zone"] = "changed", "changed"
		list, err = second.Next()
		require.NoError(t, err)
		require.Equal(t, replica("a"), list[0])
	})
}

func TestStopEndsNext(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		watcher := w.watch(t, p)
		require.Empty(t, next(t, watcher))
		waits := begin(watcher)
		require.NoError(t, watcher.Stop())
		require.ErrorIs(t, (<-waits).err, context.Canceled)
		require.NoError(t, watcher.Stop())
		_, err := watcher.Next()
		require.ErrorIs(t, err, context.Canceled)
		w.NoWatches(t)

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		watcher, err = p.Watch(ctx, "orders")
		require.NoError(t, err)
		require.Empty(t, next(t, watcher))
		_, err = watcher.Next()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = watcher.Next()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		w.NoWatches(t)
		require.NoError(t, watcher.Stop())
	})
}

// Without a connection from the beginning, Next waits, and the error at the end
// says why.
func TestNextInAnOutageAtTheStart(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a"))
		p := w.process(t)
		heal := p.network.Isolate()
		short, err := p.Watch(recipetest.Within(t, time.Minute), "orders")
		require.NoError(t, err)
		_, err = short.Next()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		waits := begin(w.watch(t, p))
		require.Empty(t, waits)
		heal()
		require.Equal(t, []string{"a"}, (<-waits).ids)
	})
}

// Promise: A watcher reports neither a change nor an error during an outage.
func TestOutageKeepsTheList(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a"))
		w.put(t, replica("b"))
		p := w.process(t)
		watcher := w.watch(t, p)
		require.Equal(t, []string{"a", "b"}, next(t, watcher))
		waits := begin(watcher)
		p.network.Cut()
		time.Sleep(time.Minute)
		heal := p.network.Isolate()
		time.Sleep(time.Hour)
		require.Empty(t, waits, "an outage is no change, and no error")
		require.NoError(t, w.Fake.Delete(folder+"/a"))
		heal()
		require.Equal(t, []string{"b"}, (<-waits).ids)
	})
}

func TestWatchersShareADirectory(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a"))
		p := w.process(t)
		all := []registry.Watcher{w.watch(t, p)}
		require.Equal(t, []string{"a"}, next(t, all[0]))
		synctest.Wait()
		w.Fake.ClearRequests()
		for range 2 {
			watcher := w.watch(t, p)
			require.Equal(t, []string{"a"}, next(t, watcher))
			all = append(all, watcher)
		}
		require.Empty(t, w.Requests())
		require.Equal(t, 1, w.Watches())
		require.NoError(t, all[0].Stop())
		require.NoError(t, all[0].Stop(), "a second Stop gives nothing back")
		require.NoError(t, all[1].Stop())
		w.put(t, replica("b"))
		require.Equal(t, []string{"a", "b"}, next(t, all[2]))
		require.NoError(t, all[2].Stop())
		w.NoWatches(t)
	})
}

// A refusal is the error of Next, which kratos calls again a second later. The list
// comes soon after it may be read.
func TestRefusalIsTriedAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a"))
		p := w.process(t)
		var refused []*zktest.Injection
		for _, op := range []zktest.Op{zkinside.OpGetChildren2, zkinside.OpMultiRead, zktest.OpGetData} {
			refused = append(refused, w.Fake.Inject(zktest.Rule{
				Optional: true,
				Op:       op, Session: p.client.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrNoAuth),
			}))
		}
		watcher := w.watch(t, p)
		for range 3 {
			_, err := watcher.Next()
			require.ErrorIs(t, err, zk.ErrNoAuth)
			time.Sleep(time.Second)
		}
		_, err := p.GetService(w.Patience(t), "orders")
		require.ErrorIs(t, err, zk.ErrNoAuth)
		for _, r := range refused {
			r.Remove()
		}
		allowed := time.Now()
		list, err := watcher.Next()
		for err != nil {
			require.ErrorIs(t, err, zk.ErrNoAuth)
			require.Less(t, time.Since(allowed), 30*time.Second)
			time.Sleep(time.Second)
			list, err = watcher.Next()
		}
		require.Equal(t, []string{"a"}, ids(list))
		require.NoError(t, watcher.Stop())
		w.NoWatches(t)
	})
}

// kratos's clients end their loops with context.Canceled, and with nothing else.
func TestClosedClientEndsNext(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		watcher := w.watch(t, p)
		require.Empty(t, next(t, watcher))
		waits := begin(watcher)
		require.NoError(t, p.client.Close())
		err := (<-waits).err
		require.ErrorIs(t, err, framework.ErrClosed)
		require.ErrorIs(t, err, context.Canceled)
		_, err = watcher.Next()
		require.ErrorIs(t, err, framework.ErrClosed)
		require.ErrorIs(t, err, context.Canceled)
		_, err = p.Watch(t.Context(), "orders")
		require.ErrorIs(t, err, framework.ErrClosed)
		_, err = p.GetService(t.Context(), "orders")
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

// Directories have the options of package discovery.
func TestDirectoryOptions(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a"))
		p := w.process(t, zookeeper.WithDirectoryOptions(discovery.WithRemovalGrace(time.Minute)))
		watcher := w.watch(t, p)
		require.Equal(t, []string{"a"}, next(t, watcher))
		began := time.Now()
		require.NoError(t, w.Fake.Delete(folder+"/a"))
		require.Empty(t, next(t, watcher))
		require.Equal(t, time.Minute, time.Since(began))
	})
}
