package locks_test

import (
	"context"
	"runtime"
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

// diary is a hook that writes down what it is told of acquires and holds.
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

func TestEveryHookHearsOfEveryAcquireAndHold(t *testing.T) {
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

// saboteur is a hook whose n-th call does not return.
type saboteur struct {
	calls, at int
	end       func()
}

func (s *saboteur) call() {
	if s.calls++; s.calls == s.at {
		s.end()
	}
}

func (s *saboteur) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	s.call()
	return ctx, sabotagedAcquire{s}
}

type sabotagedAcquire struct{ *saboteur }

func (s sabotagedAcquire) Trace() map[string]string   { s.call(); return nil }
func (s sabotagedAcquire) QueuedLocally(int)          { s.call() }
func (s sabotagedAcquire) Queued(locktrace.Queued)    { s.call() }
func (s sabotagedAcquire) Waiting(locktrace.Waiting)  { s.call() }
func (s sabotagedAcquire) Woken(bool)                 { s.call() }
func (s sabotagedAcquire) Abandoned(error)            { s.call() }
func (s sabotagedAcquire) Ended(locktrace.AcquireEnd) { s.call() }

func (s sabotagedAcquire) StartHold(locktrace.Hold) locktrace.HoldTracer {
	s.call()
	return sabotagedHold(s)
}

type sabotagedHold struct{ *saboteur }

func (s sabotagedHold) Context(ctx context.Context) context.Context { s.call(); return ctx }
func (sabotagedHold) Reentered()                                    {}
func (sabotagedHold) Revoked()                                      {}
func (sabotagedHold) Ended(locktrace.HoldEnd)                       {}
func (sabotagedHold) Overrun() func()                               { return func() {} }

// A hook that does not return takes no news from the other ones: each that was
// told of the beginning of an acquire or a hold is told of its end, once.
func TestPanicOfAHookIsNoSecretToTheOthers(t *testing.T) {
	for way, end := range map[string]func(){"panic": func() { panic("no hook") }, "goexit": runtime.Goexit} {
		t.Run(way, func(t *testing.T) { sabotage(t, end) })
	}
}

func sabotage(t *testing.T, end func()) {
	for at := 1; ; at++ { // each call that an acquire makes does not return in turn
		returned := false
		inVirtualTime(t, func(t *testing.T, w *world) {
			var before, after pages
			bad := &saboteur{at: at, end: end}
			c, _ := w.Connect(t, framework.WithHooks(diary{"before", &before}, bad, diary{"after", &after}))
			m := locks.NewInterProcessMutex(c, "/lock")
			var user sync.WaitGroup
			user.Go(func() {
				defer func() { recover() }()
				lease, err := m.Acquire(t.Context())
				if err == nil {
					err = lease.Release(t.Context())
				}
				returned = err == nil
			})
			user.Wait()
			time.Sleep(time.Minute)
			for _, p := range []*pages{&before, &after} {
				count := map[string]int{}
				for _, event := range p.read() {
					count[event]++
				}
				require.Equal(t, count["start"], count["acquire ended"], "call %d: %v", at, p.read())
				require.Equal(t, count["hold"], count["hold ended"], "call %d: %v", at, p.read())
			}
		})
		if returned {
			require.Greater(t, at, 5)
			return
		}
	}
}
