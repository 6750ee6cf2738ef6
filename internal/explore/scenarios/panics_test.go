package scenarios

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/histories"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// pitfall is the user's code that panics when the search wants that: a hook, an
// ACL provider and a retry policy, where they are called on the goroutine of a call
// that survives.
type pitfall struct {
	step func()
	on   sync.Map // those goroutines
}

func digPitfall(w *explore.World) *pitfall {
	p := &pitfall{step: w.Trap("a callback")}
	w.ClientOptions(framework.WithHooks(p), framework.WithACLProvider(func(string) []zk.ACL {
		p.call()
		return zk.WorldACL(zk.PermAll)
	}), framework.WithRetry(func() backoff.BackOff {
		p.call()
		return retry.Forever(100 * time.Millisecond)()
	}))
	return p
}

func (p *pitfall) call() {
	if _, is := p.on.Load(goroutine()); is {
		p.step()
	}
}

func (p *pitfall) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context {
	p.call()
	return ctx
}

func (p *pitfall) EndOperation(context.Context, clienttrace.OperationEnd) { p.call() }

// goroutine returns the number of the goroutine that calls it.
func goroutine() string {
	var trace [64]byte
	n, _, _ := bytes.Cut(trace[:runtime.Stack(trace[:], false)], []byte("["))
	return string(n)
}

var errTrap = errors.New("the user's code has panicked")

// survives makes errTrap of such a panic.
func (p *pitfall) survives(do func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) (err error) {
		me := goroutine()
		p.on.Store(me, true)
		defer p.on.Delete(me)
		defer func() {
			switch r := recover(); {
			case r == nil:
			case strings.HasPrefix(fmt.Sprint(r), "explore: the trap"):
				err = cmp.Or(context.Cause(ctx), errTrap)
			default:
				panic(r)
			}
		}()
		return do(ctx)
	}
}

// panicking has two actors who acquire a lock twice. The first reply to a release
// is lost. Whatever panics, the lock is not held by nobody, and nothing is left.
func panicking(of func(*framework.Client) locks.Locker, paths ...string) explore.Scenario {
	return func(w *explore.World) {
		for _, path := range paths {
			w.Node(path, "")
		}
		p := digPitfall(w)
		inside := w.Section("the lock", 1)
		all := watchAttendance(w, paths[0])
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				lock := of(a.Client())
				for turn := range 2 {
					lease := all.take(a, "acquire", func(ctx context.Context) (lease *locks.Lease, err error) {
						err = p.survives(func(ctx context.Context) (err error) {
							lease, err = lock.Acquire(ctx)
							return err
						})(ctx)
						return lease, err
					})
					if lease == nil {
						continue
					}
					leave := inside.Enter(a, lease.Context(), lease.FencingToken())
					pass(lease.Context(), time.Second)
					leave()
					if turn == 0 && name == "A" {
						a.Meets(zktest.OpAny, zktest.DropReply())
					}
					_ = a.Call("release", p.survives(lease.Release))
					all.released(lease)
					if lease.Context().Err() == nil {
						w.Fail("%s has released, and its lease is alive", a.Name())
					}
				}
			})
		}
	}
}

func TestMutexWhoseCallbacksPanic(t *testing.T) {
	explore.Search(t, panicking(retriedMutex, "/lock"), quick())
}

func TestCachedLockWhoseCallbacksPanic(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Stays("/lock")
		panicking(func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMutex(c, "/lock", locks.WithCachedLock(2, 10*time.Second))
		}, "/lock")(w)
	}, quick())
}

func TestSemaphoreWhoseCallbacksPanic(t *testing.T) {
	explore.Search(t, panicking(retriedSemaphore, "/lock", "/lock/locks", "/lock/leases"), quick())
}

func TestMultiLockWhoseCallbacksPanic(t *testing.T) {
	explore.Search(t, panicking(func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(c, "/lock"), locks.NewInterProcessMutex(c, "/other"))
	}, "/lock", "/other"), quick())
}

// Calls of a client panic. No watch is left of them, and nobody waits for them.
func TestClientWhoseCallbacksPanic(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/n", "")
		p := digPitfall(w)
		w.Actor("A", func(a *explore.Actor) {
			c := a.Client()
			_ = a.Call("read with a watch", p.survives(func(ctx context.Context) error {
				_, _, watch, err := c.GetW(ctx, "/n")
				if err == nil {
					watch.Stop()
				}
				return err
			}))
			_ = a.Call("watch", p.survives(func(ctx context.Context) error {
				watcher, err := c.NewWatcher(ctx, "/n")
				if err == nil {
					watcher.Close()
				}
				return err
			}))
			ephemeral := framework.WithMode(framework.Ephemeral)
			for range 2 { // the second one waits for what becomes of the first
				_ = a.Call("transaction", p.survives(func(ctx context.Context) error {
					_, err := c.Transaction(ctx, framework.CreateOp("/e", nil, ephemeral))
					return err
				}))
				_ = a.Call("make", p.survives(func(ctx context.Context) error {
					_, err := c.Create(ctx, "/e", nil, ephemeral)
					return err
				}))
			}
			discard(a, "/e")
		})
	}, quick())
}

// The work of a leader panics, and the next one leads.
func TestLatchWhoseWorkPanics(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		p := digPitfall(w)
		o := newOffice(w)
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				latch, err := leader.NewLatch(a.Client(), "/leader", leader.WithID(a.Name()))
				if err != nil {
					refuse(w, a, err)
					return
				}
				ctx, done := stoppable(a, "wants to lead")
				_ = p.survives(func(ctx context.Context) error {
					return latch.Lead(ctx, func(ctx context.Context) error {
						err := o.term(a, 5*time.Second)(ctx)
						p.step()
						return err
					})
				})(ctx)
				done()
				shutdown(w, a, latch)
			})
		}
	}, quick())
}

// The function of an Update panics. Nothing is written then. If a hook does, it may
// be behind the write.
func TestAtomicValueWhoseUpdatePanics(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/count", "")
		p := digPitfall(w)
		book := &ledger{world: w}
		for i, name := range names(2) {
			delta := []int64{1, 10}[i]
			w.Actor(name, func(a *explore.Actor) {
				count := atomic.NewLong(a.Client(), "/count")
				before, now, inside := book.sum(), int64(0), false
				call := book.calls.Begin(i)
				err := a.Call("update", p.survives(func(ctx context.Context) (err error) {
					now, err = count.Update(ctx, func(old int64) (int64, error) {
						inside = true
						p.step()
						inside = false
						return old + delta, nil
					})
					return err
				}))
				if errors.Is(err, errTrap) && !inside {
					err = framework.ErrOutcomeUnknown
				}
				note(call, histories.Add{Delta: delta}, now, err)
				book.told(a, delta, before, now, err)
			})
		}
		w.AtEnd(func(tree explore.Tree) error { return book.check(tree["/count"].Data) })
	}, quick())
}
