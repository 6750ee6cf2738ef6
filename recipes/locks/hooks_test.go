package locks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// diary is a hook that writes down the acquires and holds that it receives.
type diary struct {
	name string
	*pages
}

type pages struct {
	mu   sync.Mutex // protects the following field
	list []string
}

func (p *pages) write(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, what)
}

func (p *pages) read() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list
}

type diaryKey struct{ name string }

func (d diary) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	d.write("start")
	return context.WithValue(ctx, diaryKey{d.name}, true), d
}

func (d diary) Trace() map[string]string   { d.write("trace"); return map[string]string{d.name: "1"} }
func (d diary) QueuedLocally(int)          { d.write("queued locally") }
func (d diary) Queued(locktrace.Queued)    { d.write("queued") }
func (d diary) Waiting(locktrace.Waiting)  { d.write("waiting") }
func (d diary) Woken(bool)                 { d.write("woken") }
func (d diary) Abandoned(error)            { d.write("abandoned") }
func (d diary) Ended(locktrace.AcquireEnd) { d.write("acquire ended") }

func (d diary) StartHold(locktrace.Hold) locktrace.HoldTracer { d.write("hold"); return holdDiary{d} }

type holdDiary struct{ diary }

func (d holdDiary) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, diaryKey{"hold of " + d.name}, true)
}
func (d holdDiary) Reentered()              { d.write("reentered") }
func (d holdDiary) Revoked()                { d.write("revoked") }
func (d holdDiary) Ended(locktrace.HoldEnd) { d.write("hold ended") }

func (d holdDiary) Overrun() func() {
	d.write("overrun")
	return func() { d.write("returned") }
}

func TestEveryHookReceivesEveryAcquireAndHold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var a, b pages
		c, _ := w.Connect(t, framework.WithHooks(diary{"a", &a}, diary{"b", &b}))
		other := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(w.Observer, "/lock"))
		mutex := locks.NewInterProcessMutex(c, "/lock")

		waiting := locktest.AcquireLater(t.Context(), mutex)
		synctest.Wait() // it is the first
		local := locktest.AcquireLater(t.Context(), mutex)
		synctest.Wait()
		third, cancel := context.WithCancel(t.Context())
		gaveUp := locktest.AcquireLater(third, mutex)
		synctest.Wait()
		cancel()
		<-gaveUp.Done
		require.NoError(t, other.Release(t.Context()))
		lease := waiting.Wait(t)
		for _, name := range []string{"hold of a", "hold of b"} {
			require.NotNil(t, lease.Context().Value(diaryKey{name}), name)
		}
		locktest.Acquire(t, lease.Context(), mutex).Release(t.Context())
		require.NoError(t, locks.Revoke(t.Context(), w.Observer, lease.Path()))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.NoError(t, lease.Release(t.Context()))
		require.NoError(t, local.Wait(t).Release(t.Context()))
		synctest.Wait()

		require.ElementsMatch(t, a.read(), b.read())
		for _, event := range []string{
			"start", "trace", "queued locally", "queued", "waiting", "woken", "acquire ended", "hold", "reentered", "revoked", "hold ended",
		} {
			require.Contains(t, a.read(), event)
		}
	})
}

// Others can link to an acquire by what any of the hooks says.
func TestNodesHaveTheLinksOfAllHooks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var all pages
		c, _ := w.Connect(t, framework.WithHooks(diary{"a", &all}, diary{"b", &all}))
		lease := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/lock"))
		data, _, err := w.Observer.Get(t.Context(), lease.Path())
		require.NoError(t, err)
		require.Equal(t, map[string]string{"a": "1", "b": "1"}, locks.ReadIdentity(data).Trace)
		require.NoError(t, lease.Release(t.Context()))
	})
}
