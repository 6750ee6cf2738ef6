//go:build !real

package recipes_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// keyedUse uses the library with a path that no earlier use had, and ends all that it
// has begun.
type keyedUse func(ctx context.Context, path string) error

// keyedUses has the public API of the client and of every recipe. A row prepares what
// all its uses share.
var keyedUses = map[string]func(t *testing.T, s *scene) keyedUse{
	"mutex":      locking(mutexAt),
	"read lock":  locking(readerAt),
	"write lock": locking(writerAt),
	"semaphore":  locking(semaphoreAt),
	"semaphore mutex": locking(func(c *framework.Client, path string) locks.Locker {
		return locks.NewInterProcessSemaphoreMutex(c, path)
	}),
	"multi-lock": locking(func(c *framework.Client, path string) locks.Locker {
		return locks.NewInterProcessMultiLock(mutexAt(c, path+"/a"), semaphoreAt(c, path+"/b"))
	}),
	"mutex that stays idle": locking(mutexWith(locks.ReleasePolicy{MaxReuses: 9, Idle: time.Second})),
	"mutex that is handed over": func(_ *testing.T, s *scene) keyedUse {
		at := mutexWith(locks.ReleasePolicy{MaxReuses: 9, HandOver: time.Second})
		return func(ctx context.Context, path string) error {
			l := at(s.client, path)
			lease, err := l.Acquire(ctx)
			if err != nil {
				return err
			}
			next := async(func() error { return released(l.Acquire(ctx)) })
			synctest.Wait()
			return errors.Join(lease.Release(ctx), <-next)
		}
	},
	"mutex with a minimum hold": locking(mutexWith(locks.ReleasePolicy{MinimumHold: time.Second})),
	"mutex that is held for a while": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			lease, err := mutexAt(s.client, path).Acquire(ctx)
			if err != nil {
				return err
			}
			time.Sleep(2 * time.Second) // it watches its own node by then
			return lease.Release(ctx)
		}
	},
	"mutex that is revoked": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			l := mutexAt(s.client, path)
			lease, err := l.Acquire(ctx)
			if err != nil {
				return err
			}
			err = locks.Revoke(ctx, s.client, lease.Path())
			<-lease.Revoked()
			return errors.Join(err, released(l.Acquire(lease.Context())), lease.Release(ctx))
		}
	},
	"read lock under the writer": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			l := locks.NewInterProcessReadWriteLock(s.client, path)
			lease, err := l.WriteLock().Acquire(ctx)
			if err != nil {
				return err
			}
			under, err := l.ReadLock().Acquire(lease.Context())
			return errors.Join(err, lease.Release(ctx), under.Release(ctx))
		}
	},
	"semaphore with a shared limit": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			l := locks.NewInterProcessSemaphore(s.client, path+"/lock", locks.SharedLimit(path+"/limit", 3))
			return released(l.AcquireN(ctx, 2))
		}
	},
	"fencing token": func(_ *testing.T, s *scene) keyedUse {
		guard := fence.NewGuard(0)
		return func(ctx context.Context, path string) error {
			lease, err := mutexAt(s.client, path).Acquire(ctx)
			if err != nil {
				return err
			}
			return errors.Join(guard.Do(lease.FencingToken(), func() error { return nil }), lease.Release(ctx))
		}
	},
	"latch": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			l, err := leader.NewLatch(s.client, path)
			if err != nil {
				return err
			}
			_, err = l.WaitLeadership(ctx)
			return errors.Join(err, l.Shutdown(ctx))
		}
	},
	"selector": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			return leader.NewSelector(s.client, path).Run(ctx, func(context.Context) error { return nil })
		}
	},
	"observer of an election": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			for range leader.Observe(ctx, s.client, path) {
				break
			}
			return nil
		}
	},
	"persistent node": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			n, err := nodes.NewPersistentNode(s.client, path, nil)
			if err != nil {
				return err
			}
			return errors.Join(n.Set(ctx, []byte("x")), n.Shutdown(ctx))
		}
	},
	"group": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			g := nodes.NewGroup(s.client, path)
			m, err := g.Join(ctx, "a", nil)
			if err != nil {
				return err
			}
			for range g.Changes(ctx) {
				break
			}
			return m.Leave(ctx)
		}
	},
	"member of a group": func(_ *testing.T, s *scene) keyedUse {
		g := nodes.NewGroup(s.client, "/m")
		return func(ctx context.Context, path string) error {
			m, err := g.Join(ctx, path[len("/m/"):], nil)
			if err != nil {
				return err
			}
			return m.Leave(ctx)
		}
	},
	"shared value": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			v, err := shared.NewCount(s.client, path, 1)
			if err != nil {
				return err
			}
			return errors.Join(v.Set(ctx, 2), v.Close())
		}
	},
	"atomic counter": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			_, err := atomic.NewLong(s.client, path).Add(ctx, 1)
			return err
		}
	},
	"atomic value": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			v := atomic.NewValue(s.client, path, codec.Bytes())
			_, err := v.Load(ctx)
			return errors.Join(err, v.Store(ctx, []byte("x")))
		}
	},
	"sequence": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			_, err := atomic.NewSequence(s.client, path).Next(ctx)
			return err
		}
	},
	"barrier": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			b := barriers.NewBarrier(s.client, path)
			if _, err := b.Raise(ctx, barriers.WithSession()); err != nil {
				return err
			}
			passed := async(func() error { return b.Wait(ctx) })
			synctest.Wait()
			return errors.Join(b.Lower(ctx), <-passed)
		}
	},
	"double barrier": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			p, err := barriers.NewDoubleBarrier(s.client, path, 1).Enter(ctx)
			if err != nil {
				return err
			}
			return p.Leave(ctx)
		}
	},
	"cache": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			c, err := cache.New(s.client, path)
			if err != nil {
				return err
			}
			return errors.Join(c.WaitSynced(ctx), c.Close())
		}
	},
	"node in a cache": func(t *testing.T, s *scene) keyedUse {
		c, err := cache.New(s.client, "/m")
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		go none(c.Changes(t.Context()))
		go none(c.Steps(t.Context()))
		return func(ctx context.Context, path string) error { return comeAndGo(ctx, s, path, c.WaitFor) }
	},
	"node in a cache without data": func(t *testing.T, s *scene) keyedUse {
		c, err := cache.New(s.client, "/m", cache.WithoutData())
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return func(ctx context.Context, path string) error { return comeAndGo(ctx, s, path, c.WaitFor) }
	},
	"registration": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			return register(ctx, s, instanceOf("orders", path[len("/m/"):]))
		}
	},
	"registration of a service": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			return register(ctx, s, instanceOf(path[len("/m/"):], "a"))
		}
	},
	"registrar": func(_ *testing.T, s *scene) keyedUse {
		r := discovery.NewRegistrar(s.client, "/m", discovery.CuratorCodec())
		return func(ctx context.Context, path string) error {
			i := instanceOf("orders", path[len("/m/"):])
			return errors.Join(r.Register(ctx, i), r.Deregister(ctx, i.Service, i.ID))
		}
	},
	"directory": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			d, err := discovery.NewDirectory(s.client, "/m", discovery.CuratorCodec(), path[len("/m/"):])
			if err != nil {
				return err
			}
			return errors.Join(d.WaitSynced(ctx), d.Close())
		}
	},
	"instance in a directory": func(t *testing.T, s *scene) keyedUse {
		d, err := discovery.NewServices(s.client, "/m", discovery.CuratorCodec())
		require.NoError(t, err)
		t.Cleanup(func() { d.Close() })
		picker, err := discovery.NewPicker(discovery.RoundRobin(), discovery.WithDirectory(d),
			discovery.WithEjection(1, time.Second, time.Second))
		require.NoError(t, err)
		go none(d.Changes(t.Context()))
		return func(ctx context.Context, path string) error {
			name := path[len("/m/"):]
			r, err := discovery.NewRegistration(s.client, "/m", discovery.CuratorCodec(), instanceOf("s"+name, name))
			if err != nil {
				return err
			}
			_, err = r.WaitRegistered(ctx)
			err = errors.Join(err, d.WaitFor(ctx, s.srv.Stats().Zxid))
			picker.Update(d.Snapshot().Entries)
			_, request, picked := picker.Pick()
			request.Done(errAnother) // takes the instance out
			return errors.Join(err, picked, r.Shutdown(ctx))
		}
	},

	"operations": func(_ *testing.T, s *scene) keyedUse {
		c := s.client
		return func(ctx context.Context, path string) error {
			_, err := c.Create(ctx, path, nil, framework.WithParents())
			_, _, got := c.Get(ctx, path)
			_, set := c.Set(ctx, path, []byte("x"), 0)
			_, _, there := c.Exists(ctx, path)
			_, _, listed := c.Children(ctx, path)
			acl, _, allowed := c.GetACL(ctx, path)
			_, setACL := c.SetACL(ctx, path, acl, 0)
			_, txn := c.Transaction(ctx,
				framework.CheckOp(path, 1), framework.CreateOp(path+"/a", nil), framework.SetOp(path, nil, 1))
			return errors.Join(err, got, set, there, listed, allowed, setACL, txn, c.Sync(ctx, path),
				c.Delete(ctx, path, framework.AnyVersion, framework.WithChildren()))
		}
	},
	"ephemeral nodes": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			ephemeral, sequential := framework.WithMode(framework.Ephemeral), framework.WithMode(framework.EphemeralSequential)
			_, err := s.client.Create(ctx, path, nil, ephemeral, framework.WithParents())
			made, protected := s.client.Create(ctx, path+"-", nil, sequential, framework.WithProtection())
			deleted := s.client.Delete(ctx, path, 0)
			return errors.Join(err, protected, deleted, s.client.Delete(ctx, made.Path, 0, framework.WithGuarantee()))
		}
	},
	"views": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			view, err := s.client.Namespace(path)
			if err != nil {
				return err
			}
			return released(mutexWith(locks.ReleasePolicy{MaxReuses: 9, Idle: time.Second})(view, "/lock").Acquire(ctx))
		}
	},
	"watches": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			_, _, coming, err := s.client.ExistsW(ctx, path)
			if err != nil {
				return err
			}
			if err = s.srv.Create(path, nil); err == nil {
				_, err = coming.Wait(ctx)
			}
			_, _, data, got := s.client.GetW(ctx, path)
			_, _, children, listed := s.client.ChildrenW(ctx, path)
			if err := errors.Join(err, got, listed); err != nil {
				return err
			}
			data.Stop()
			children.Stop()
			return nil
		}
	},
	"watchers": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			w, err := s.client.NewWatcher(ctx, path, framework.WithRecursion())
			if err != nil {
				return err
			}
			defer w.Close()
			if err = s.srv.Create(path, nil); err == nil {
				_, err = w.Next(ctx)
			}
			return err
		}
	},
}

// keyedMishaps are uses in which a lock is held, a session is lost, or a server is away.
var keyedMishaps = map[string]func(t *testing.T, s *scene) keyedUse{
	"mutex with a minimum hold, ended by an operator": func(_ *testing.T, s *scene) keyedUse {
		at := mutexWith(locks.ReleasePolicy{MinimumHold: time.Minute})
		return func(ctx context.Context, path string) error {
			if err := released(at(s.client, path).Acquire(ctx)); err != nil {
				return err
			}
			time.Sleep(2 * time.Second)
			return s.srv.Delete(path)
		}
	},
	"mutex that another client holds":     waiting(mutexAt, mutexAt),
	"read lock behind a writer":           waiting(readerAt, writerAt),
	"write lock behind a reader":          waiting(writerAt, readerAt),
	"semaphore that another client holds": waiting(semaphoreAt, semaphoreAt),
	"mutex that is lost": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			lease, err := mutexAt(s.client, path).Acquire(ctx)
			if err != nil {
				return err
			}
			if err := s.srv.Delete(lease.Path()); err != nil {
				return err
			}
			<-lease.Context().Done()
			return errIf(nil, lease.Release(ctx) == nil)
		}
	},
	"persistent node in conflict": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			if err := s.srv.Create(path, nil); err != nil {
				return err
			}
			n, err := nodes.NewPersistentNode(s.client, path, nil, nodes.WithConflictPolicy(nodes.Fail))
			if err == nil {
				<-n.Done()
			}
			return err
		}
	},
	"registrar in an outage": func(_ *testing.T, s *scene) keyedUse {
		r := discovery.NewRegistrar(s.client, "/m", discovery.CuratorCodec())
		return func(ctx context.Context, path string) error {
			i := instanceOf("orders", path[len("/m/"):])
			if err := errors.Join(r.Register(ctx, i), s.srv.Stop()); err != nil {
				return err
			}
			soon, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			left := r.Deregister(soon, i.Service, i.ID)
			return errors.Join(left, s.srv.Restart(), s.client.WaitConnected(ctx))
		}
	},
	"creates that are given up": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			if err := s.srv.Create(path, nil); err != nil {
				return err
			}
			s.srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayReply(time.Second)})
			soon, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			return errIf(nil, released(mutexAt(s.client, path).Acquire(soon)) == nil)
		}
	},
	"replies that are lost": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			// The client has in mind a thousand deletes that have gone on without the caller.
			for _, op := range thorough.Some(1, zktest.OpCreate, zktest.OpDelete) {
				s.srv.Inject(zktest.Rule{Optional: true, Op: op, Do: zktest.DropReply()})
			}
			return released(mutexAt(s.client, path).Acquire(ctx))
		}
	},
	"sessions": func(t *testing.T, s *scene) keyedUse {
		c, err := cache.New(s.client, "/m")
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return func(ctx context.Context, path string) error {
			n, err := nodes.NewPersistentNode(s.client, path+"/n", nil)
			if err != nil {
				return err
			}
			_, _, watch, watched := s.client.ExistsW(ctx, path+"/none")
			lease, err := mutexAt(s.client, path+"/lock").Acquire(ctx)
			if err := errors.Join(err, watched, n.Set(ctx, []byte("x"))); err != nil {
				return err
			}
			s.srv.Session(s.client.SessionID()).Expire()
			<-lease.Context().Done()
			_, ended := watch.Wait(ctx)
			return errors.Join(errIf(nil, lease.Release(ctx) == nil || ended == nil), n.Set(ctx, []byte("y")), n.Shutdown(ctx))
		}
	},
	"receipts, which go with the session": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			_, err := atomic.NewLong(s.client, path+"/n", atomic.WithReceipts(path+"/receipts")).Add(ctx, 1)
			s.srv.Session(s.client.SessionID()).Expire()
			return errors.Join(err, s.client.WaitConnected(ctx))
		}
	},
	"clients": func(_ *testing.T, s *scene) keyedUse {
		// A context of the client's own says who it is, and the server remembers that.
		dial := func(_ context.Context, network, address string) (net.Conn, error) {
			return s.srv.Dialer()(context.Background(), network, address)
		}
		return func(ctx context.Context, path string) error {
			c, err := framework.Connect(ctx, s.srv.Addr(), framework.WithDialer(dial))
			if err != nil {
				return err
			}
			at := mutexWith(locks.ReleasePolicy{MaxReuses: 9, Idle: time.Hour})
			return errors.Join(released(at(c, path).Acquire(ctx)), c.Close())
		}
	},
	"retries": func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			if err := s.client.WaitConnected(ctx); err != nil {
				return err
			}
			s.srv.CutAll()
			return retry.Do(ctx, retry.Forever(time.Second), framework.IsConnectionError, func(ctx context.Context) error {
				_, _, err := s.client.Exists(ctx, path)
				return err
			})
		}
	},
}

func async(f func() error) <-chan error {
	err := make(chan error, 1)
	go func() { err <- f() }()
	return err
}

func mutexAt(c *framework.Client, path string) locks.Locker {
	return locks.NewInterProcessMutex(c, path)
}

func readerAt(c *framework.Client, path string) locks.Locker {
	return locks.NewInterProcessReadWriteLock(c, path).ReadLock()
}

func writerAt(c *framework.Client, path string) locks.Locker {
	return locks.NewInterProcessReadWriteLock(c, path).WriteLock()
}

func semaphoreAt(c *framework.Client, path string) locks.Locker {
	return locks.NewInterProcessSemaphore(c, path, locks.Limit(1))
}

func mutexWith(p locks.ReleasePolicy) func(*framework.Client, string) locks.Locker {
	return func(c *framework.Client, path string) locks.Locker {
		return locks.NewInterProcessMutex(c, path, locks.WithReleasePolicy(p))
	}
}

// locking acquires a lock that is free, and releases it.
func locking(at func(*framework.Client, string) locks.Locker) func(*testing.T, *scene) keyedUse {
	return func(_ *testing.T, s *scene) keyedUse {
		return func(ctx context.Context, path string) error {
			return released(at(s.client, path).Acquire(ctx))
		}
	}
}

// waiting waits for a lock that another client holds: a try and an acquire end without
// it, and another acquire gets it.
func waiting(at, first func(*framework.Client, string) locks.Locker) func(*testing.T, *scene) keyedUse {
	return func(t *testing.T, s *scene) keyedUse {
		t.Helper()
		rival := s.other(t)
		return func(ctx context.Context, path string) error {
			lease, err := first(rival, path).Acquire(ctx)
			if err != nil {
				return err
			}
			_, refused := at(s.client, path).TryAcquire(ctx)
			soon, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, late := at(s.client, path).Acquire(soon)
			next := async(func() error { return released(at(s.client, path).Acquire(ctx)) })
			synctest.Wait()
			return errors.Join(errIf(nil, refused == nil || late == nil), lease.Release(ctx), <-next)
		}
	}
}

// comeAndGo makes a node, and deletes it as soon as a copy has it.
func comeAndGo(ctx context.Context, s *scene, path string, waitFor func(context.Context, int64) error) error {
	if err := s.srv.Create(path+"/child", []byte("x")); err != nil {
		return err
	}
	return errors.Join(waitFor(ctx, s.srv.Stats().Zxid), s.srv.Delete(path))
}

func instanceOf(service, id string) discovery.Instance {
	return discovery.Instance{Service: service, ID: id, Address: "10.0.0.7", Port: 80}
}

func register(ctx context.Context, s *scene, i discovery.Instance) error {
	r, err := discovery.NewRegistration(s.client, "/m", discovery.CuratorCodec(), i)
	if err != nil {
		return err
	}
	_, err = r.WaitRegistered(ctx)
	return errors.Join(err, r.Shutdown(ctx))
}

// Promise: memory does not grow with the number of locks, nodes, values, services,
// paths and sessions that a program has used, but only with what it uses at the same
// time.
func TestMemoryDoesNotGrowWithTheNumberOfKeys(t *testing.T) {
	for name, prepare := range keyedUses {
		t.Run(name, func(t *testing.T) { memoryStays(t, 100_000, prepare) })
	}
	for name, prepare := range keyedMishaps {
		t.Run(name, func(t *testing.T) { memoryStays(t, 10_000, prepare) })
	}
}

// memoryStays checks that so many uses leave less than a megabyte behind, and by
// default that forty leave less than two kilobytes. A table may grow during them as
// far as it ever does, so a leak is what they leave behind five times in a row.
func memoryStays(t *testing.T, keys int, prepare func(t *testing.T, s *scene) keyedUse) {
	t.Helper()
	keys, limit, round := thorough.Size(keys, 40), thorough.Size(1<<20, 2<<10), thorough.Size(100, 10)
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		require.NoError(t, s.client.WaitConnected(t.Context()))
		use, last := prepare(t, s), 0
		useKeys := func(n int) {
			for range n {
				last++
				require.NoError(t, use(t.Context(), "/m/"+strconv.Itoa(last)), "key %d", last)
				if last%round == 0 {
					s.forget()
				}
			}
		}
		useKeys(min(keys, 1000))
		var grown int
		for range 5 {
			before := inUse()
			useKeys(keys)
			if grown = inUse() - before; grown <= limit {
				break
			}
		}
		t.Logf("%d keys leave %d bytes behind", keys, grown)
		require.LessOrEqual(t, grown, limit, "bytes that %d keys leave behind", keys)
	})
}

// forget waits until all that has begun is over, and deletes what is left at the server.
func (s *scene) forget() {
	time.Sleep(20 * time.Second)
	s.srv.Delete("/m")
	time.Sleep(20 * time.Second)
	s.srv.ClearRequests()
}

// inUse returns how many bytes of memory are in use.
func inUse() int {
	synctest.Wait()
	for range 3 { // a pool keeps what it has for two collections
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}
