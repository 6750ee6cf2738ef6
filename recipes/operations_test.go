package recipes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/fence/fencezk"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/retry"
)

// operation is a call of the client's or of a recipe's, with what has to be
// there before it.
type operation struct {
	name    string
	prepare func(t *testing.T, s *scene) (call func(ctx context.Context) error)
}

// everyOperation has each call that takes a context and asks the server.
var everyOperation = []operation{
	{"get", onTree(func(ctx context.Context, s *scene) error { _, _, err := s.client.Get(ctx, "/tree"); return err })},
	{"get, missing", onTree(func(ctx context.Context, s *scene) error { _, _, err := s.client.Get(ctx, "/none"); return err })},
	{"getW", onTree(func(ctx context.Context, s *scene) error {
		_, _, w, err := s.client.GetW(ctx, "/tree")
		return stopped(w, err)
	})},
	{"exists", onTree(func(ctx context.Context, s *scene) error { _, _, err := s.client.Exists(ctx, "/none"); return err })},
	{"existsW", onTree(func(ctx context.Context, s *scene) error {
		_, _, w, err := s.client.ExistsW(ctx, "/none")
		return stopped(w, err)
	})},
	{"children", onTree(func(ctx context.Context, s *scene) error { _, _, err := s.client.Children(ctx, "/tree"); return err })},
	{"siblings", onTree(func(ctx context.Context, s *scene) error {
		_, err := insider.Of(s.client).Siblings(ctx, "/tree")
		return err
	})},
	{"current siblings", onTree(func(ctx context.Context, s *scene) error {
		_, _, err := insider.Of(s.client).CurrentSiblings(ctx, "/tree")
		return err
	})},
	{"childrenW", onTree(func(ctx context.Context, s *scene) error {
		_, _, w, err := s.client.ChildrenW(ctx, "/tree")
		return stopped(w, err)
	})},
	{"watcher", onTree(func(ctx context.Context, s *scene) error {
		w, err := s.client.NewWatcher(ctx, "/tree", framework.WithRecursion())
		if err == nil {
			defer w.Close()
			_, err = w.Next(ctx)
		}
		return err
	})},
	{"getACL", onTree(func(ctx context.Context, s *scene) error { _, _, err := s.client.GetACL(ctx, "/tree"); return err })},
	{"setACL", onTree(func(ctx context.Context, s *scene) error {
		acl, _, err := s.client.GetACL(context.WithoutCancel(ctx), "/tree")
		if err == nil {
			_, err = s.client.SetACL(ctx, "/tree", acl, 0)
		}
		return err
	})},
	{"sync", onTree(func(ctx context.Context, s *scene) error { return s.client.Sync(ctx, "/tree") })},
	{"set", onTree(set(framework.AnyVersion))},
	{"set of a version", onTree(set(0))},
	{"set of another version", onTree(set(7))},
	{"create", onTree(create("/new"))},
	{"create, exists", onTree(create("/tree"))},
	{"create, no parent", onTree(create("/a/b"))},
	{"create with parents", onTree(create("/a/b", framework.WithParents()))},
	{"create, idempotent", onTree(create("/new", framework.WithIdempotence()))},
	{"create or set", onTree(create("/tree", framework.WithOverwrite(framework.AnyVersion)))},
	{"create or set a version", onTree(create("/tree", framework.WithOverwrite(0)))},
	{"create, ephemeral", onTree(create("/new", framework.WithMode(framework.Ephemeral)))},
	{"create, protected", onTree(create("/tree/p-", framework.WithMode(framework.EphemeralSequential), framework.WithProtection(), framework.WithSiblings()))},
	{"create with a time to live", onTree(create("/new", framework.WithMode(framework.PersistentTTL), framework.WithTTL(time.Hour)))},
	{"create with a time to live, protected", onTree(create("/tree/p-",
		framework.WithMode(framework.PersistentSequentialTTL), framework.WithTTL(time.Hour), framework.WithProtection(), framework.WithSiblings()))},
	{"create a container", onTree(create("/new", framework.WithMode(framework.Container)))},
	{"delete", onTree(remove("/tree/a"))},
	{"delete, missing", onTree(remove("/none"))},
	{"delete of a tree", onTree(remove("/tree", framework.WithChildren(), framework.WithMissingOK()))},
	{"guaranteed delete", onTree(remove("/tree/a", framework.WithGuarantee()))},
	{"transaction", onTree(func(ctx context.Context, s *scene) error {
		_, err := s.client.Transaction(ctx, framework.SetOp("/tree", nil, 0), framework.CreateOp("/new", nil))
		return err
	})},
	{"transaction that fails", onTree(func(ctx context.Context, s *scene) error {
		_, err := s.client.Transaction(ctx, framework.SetOp("/tree", nil, 7), framework.CreateOp("/new", nil))
		return err
	})},
	{"transaction that overwrites", onTree(func(ctx context.Context, s *scene) error {
		_, err := s.client.Transaction(ctx, framework.CreateOp("/tree", nil, framework.WithOverwrite(framework.AnyVersion)))
		return err
	})},
	{"transaction with an ephemeral node", onTree(func(ctx context.Context, s *scene) error {
		_, err := s.client.Transaction(ctx, framework.CreateOp("/new", nil, framework.WithMode(framework.Ephemeral)))
		return err
	})},
	{"multiRead", onTree(func(ctx context.Context, s *scene) error {
		_, _, err := insider.Of(s.client).MultiRead(ctx, "/tree", "/none")
		return err
	})},
	{"in session", onTree(func(ctx context.Context, s *scene) error {
		return s.client.InSession(ctx, func(ctx context.Context) error { return set(0)(ctx, s) })
	})},

	{"wait connected", onTree(func(ctx context.Context, s *scene) error { return s.client.WaitConnected(ctx) })},
	{"sync of a quorum", onTree(func(ctx context.Context, s *scene) error { return s.client.SyncQuorum(ctx) })},
	{"addAuth", onTree(func(ctx context.Context, s *scene) error { return s.client.AddAuth(ctx, "digest", []byte("a:b")) })},
	{"wait for a watch", onTree(func(ctx context.Context, s *scene) error {
		_, _, w, err := s.client.GetW(context.WithoutCancel(ctx), "/tree")
		if err == nil {
			defer w.Stop()
			_, err = w.Wait(ctx)
		}
		return err
	})},
	{"connect", onTree(func(ctx context.Context, s *scene) error {
		c, err := framework.Connect(ctx, s.srv.Addr(), framework.WithDialer(s.srv.Dialer()))
		if err == nil {
			c.Close()
		}
		return err
	})},
	{"session", onTree(func(ctx context.Context, s *scene) error { _, err := s.client.Session(ctx); return err })},
	{"session, its end", onTree(func(ctx context.Context, s *scene) error {
		of, err := s.client.Session(context.WithoutCancel(ctx))
		if err == nil {
			err = of.AwaitEnd(ctx)
		}
		return err
	})},
	{"outage", onTree(func(ctx context.Context, s *scene) error { return insider.Of(s.client).AwaitOutage(ctx) })},
	{"states", onTree(func(ctx context.Context, s *scene) error { return drain(s.client.States(ctx)) })},
	{"retry", onTree(func(ctx context.Context, s *scene) error {
		return retry.Do(ctx, retry.Exponential(time.Second, time.Second, 3), framework.IsConnectionError, func(ctx context.Context) error { return set(0)(ctx, s) })
	})},
	{"watch", onTree(func(ctx context.Context, s *scene) (last error) {
		for _, err := range s.client.Watch(ctx, "/tree") {
			last = err
		}
		return last
	})},

	{"mutex, free", lock(mutex, free, locks.Locker.Acquire)},
	{"mutex, held", lock(mutex, byAnother, locks.Locker.Acquire)},
	{"mutex, try", lock(mutex, byAnother, locks.Locker.TryAcquire)},
	{"mutex, release", release(mutex)},
	{"read lock, held", lock(reader, byAnother, locks.Locker.Acquire)},
	{"write lock, free", lock(writer, free, locks.Locker.Acquire)},
	{"write lock, held", lock(writer, byAnother, locks.Locker.Acquire)},
	{"semaphore, free", lock(semaphore, free, locks.Locker.Acquire)},
	{"semaphore, held", lock(semaphore, byAnother, locks.Locker.Acquire)},
	{"semaphore, several", func(t *testing.T, s *scene) func(context.Context) error {
		l := locks.NewInterProcessSemaphore(s.client, "/lock", locks.SharedLimit("/limit", 3))
		return func(ctx context.Context) error { return released(l.AcquireN(ctx, 2)) }
	}},
	{"semaphore, release", release(semaphore)},
	{"multi-lock, free", lock(several, free, locks.Locker.Acquire)},
	{"multi-lock, held", lock(several, byAnother, locks.Locker.Acquire)},
	{"multi-lock, release", release(several)},
	{"mutex, do", do(mutex)},
	{"read lock, do", do(reader)},
	{"write lock, do", do(writer)},
	{"semaphore, do", do(semaphore)},
	{"semaphore mutex, do", do(semaphoreMutex)},
	{"multi-lock, do", do(several)},
	{"read lock, try", lock(reader, byAnother, locks.Locker.TryAcquire)},
	{"read lock, release", release(reader)},
	{"write lock, release", release(writer)},
	{"semaphore, try", lock(semaphore, byAnother, locks.Locker.TryAcquire)},
	{"write lock, try", lock(writer, byAnother, locks.Locker.TryAcquire)},
	{"semaphore mutex, try", lock(semaphoreMutex, byAnother, locks.Locker.TryAcquire)},
	{"semaphore, try several", func(t *testing.T, s *scene) func(context.Context) error {
		l := locks.NewInterProcessSemaphore(s.client, "/lock", locks.Limit(3))
		return func(ctx context.Context) error { return released(l.TryAcquireN(ctx, 2)) }
	}},
	{"semaphore mutex, held", lock(semaphoreMutex, byAnother, locks.Locker.Acquire)},
	{"multi-lock, try", lock(several, byAnother, locks.Locker.TryAcquire)},
	{"read lock under the writer", func(t *testing.T, s *scene) func(context.Context) error {
		l := locks.NewInterProcessReadWriteLock(s.client, "/lock")
		lease, err := l.WriteLock().Acquire(t.Context())
		require.NoError(t, err)
		return func(ctx context.Context) error {
			under, done := lease.WithContext(ctx)
			defer done()
			return released(l.ReadLock().Acquire(under))
		}
	}},
	{"mutex, participants", participants(mutex)},
	{"write lock, participants", participants(writer)},
	{"semaphore, participants", participants(semaphore)},
	{"semaphore mutex, participants", participants(semaphoreMutex)},
	{"multi-lock, participants", participants(several)},
	{"read lock, participants", participants(reader)},
	{"read/write lock, participants", heldBy(func(ctx context.Context, s *scene) error {
		_, err := locks.NewInterProcessReadWriteLock(s.client, "/lock").Participants(ctx)
		return err
	})},
	{"revoke", heldBy(func(ctx context.Context, s *scene) error {
		return locks.Revoke(ctx, s.client, "/lock/"+s.srv.Children("/lock")[0])
	})},
	{"fenced create", fenced(func(ctx context.Context, c *fencezk.Client) error { _, err := c.Create(ctx, "/new", nil); return err })},
	{"fenced set", fenced(func(ctx context.Context, c *fencezk.Client) error {
		_, err := c.Set(ctx, "/tree", nil, framework.AnyVersion)
		return err
	})},
	{"fenced delete", fenced(func(ctx context.Context, c *fencezk.Client) error { return c.Delete(ctx, "/tree/a", 0) })},
	{"fenced transaction", fenced(func(ctx context.Context, c *fencezk.Client) error { _, err := c.Transaction(ctx); return err })},
	{"fencing token, first", incoming("/other", "7 /other/a")},
	{"fencing token, equal", incoming("/lock", "7 /lock/a")},
	{"fencing token, larger", incoming("/lock", "8 /lock/b")},
	{"shared limit", onTree(func(ctx context.Context, s *scene) error { return locks.SetSharedLimit(ctx, s.client, "/limit", 3) })},

	{"leader", heldBy(func(ctx context.Context, s *scene) error {
		_, err := leader.NewSelector(s.client, "/lock").Leader(ctx)
		return err
	})},
	{"leader, none", onTree(func(ctx context.Context, s *scene) error {
		_, err := leader.NewSelector(s.client, "/tree").Leader(ctx)
		return err
	})},
	{"leader, now", heldBy(func(ctx context.Context, s *scene) error {
		_, err := leader.Now(ctx, s.client, "/lock")
		return err
	})},
	{"observe", heldBy(func(ctx context.Context, s *scene) (last error) {
		for _, err := range leader.Observe(ctx, s.client, "/lock") {
			last = err
		}
		return last
	})},
	{"stream", heldBy(func(ctx context.Context, s *scene) error { return streamed(ctx, s, recipes.Stream) })},
	{"latest", heldBy(func(ctx context.Context, s *scene) error { return streamed(ctx, s, recipes.Latest) })},
	{"latch, wait leadership", latch(func(ctx context.Context, l *leader.Latch) error { _, err := l.WaitLeadership(ctx); return err })},
	{"latch, leader", latch(func(ctx context.Context, l *leader.Latch) error { _, err := l.Leader(ctx); return err })},
	{"latch, lead", latch(func(ctx context.Context, l *leader.Latch) error {
		return l.Lead(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil })
	})},
	{"latch, hand over", latch(func(ctx context.Context, l *leader.Latch) error { return l.HandOver(ctx) })},
	{"latch, resign", latch(func(ctx context.Context, l *leader.Latch) error { return l.Resign(ctx) })},
	{"latch, shutdown", latch(func(ctx context.Context, l *leader.Latch) error { return l.Shutdown(ctx) })},
	{"selector", onTree(func(ctx context.Context, s *scene) error {
		return leader.NewSelector(s.client, "/lead").Run(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil })
	})},
	{"selector, not leading", heldBy(func(ctx context.Context, s *scene) error {
		return leader.NewSelector(s.client, "/lock").Run(ctx, func(context.Context) error { return nil })
	})},

	{"latch, participants", latch(func(ctx context.Context, l *leader.Latch) error {
		all, err := l.Participants(ctx)
		return errIf(err, len(all) != 1)
	})},
	{"selector, leader", selecting(func(ctx context.Context, l *leader.Selector) error { _, err := l.Leader(ctx); return err })},
	{"selector, participants", selecting(func(ctx context.Context, l *leader.Selector) error {
		all, err := l.Participants(ctx)
		return errIf(err, len(all) != 1)
	})},
	{"selector, resign", selecting(func(ctx context.Context, l *leader.Selector) error { return l.Resign(ctx) })},
	{"selector, hand over", selecting(func(ctx context.Context, l *leader.Selector) error { return l.HandOver(ctx) })},

	{"long, load", onTree(func(ctx context.Context, s *scene) error {
		_, err := atomic.NewLong(s.client, "/none").Load(ctx)
		return err
	})},
	{"long, add", onTree(func(ctx context.Context, s *scene) error {
		_, err := atomic.NewLong(s.client, "/n").Add(ctx, 1)
		return err
	})},
	{"long, add with a receipt", onTree(func(ctx context.Context, s *scene) error {
		_, err := atomic.NewLong(s.client, "/n", atomic.WithReceipts("/receipts")).Add(ctx, 1)
		return err
	})},
	{"value, store", onTree(func(ctx context.Context, s *scene) error {
		return atomic.NewValue(s.client, "/tree", codec.Bytes()).Store(ctx, []byte("x"))
	})},
	{"long, compare and swap", onTree(func(ctx context.Context, s *scene) error {
		swapped, err := atomic.NewLong(s.client, "/n").CompareAndSwap(ctx, 0, 1)
		return errIf(err, !swapped)
	})},
	{"long, store", onTree(func(ctx context.Context, s *scene) error { return atomic.NewLong(s.client, "/n").Store(ctx, 1) })},
	{"long, update", onTree(func(ctx context.Context, s *scene) error {
		_, err := atomic.NewLong(s.client, "/n").Update(ctx, func(old int64) (int64, error) { return old + 1, nil })
		return err
	})},
	{"value, load", onTree(func(ctx context.Context, s *scene) error {
		_, err := atomic.NewValue(s.client, "/tree", codec.Bytes()).Load(ctx)
		return err
	})},
	{"value, compare and swap", onTree(func(ctx context.Context, s *scene) error {
		swapped, err := atomic.NewValue(s.client, "/tree", codec.Bytes()).CompareAndSwap(ctx, []byte("old"), []byte("x"))
		return errIf(err, !swapped)
	})},
	{"value, update", onTree(func(ctx context.Context, s *scene) error {
		_, err := atomic.NewValue(s.client, "/tree", codec.Bytes()).Update(ctx, func([]byte) ([]byte, error) { return []byte("x"), nil })
		return err
	})},
	{"sequence", onTree(func(ctx context.Context, s *scene) error {
		_, err := atomic.NewSequence(s.client, "/sequence").Next(ctx)
		return err
	})},
	{"sequence, dense", onTree(func(ctx context.Context, s *scene) error {
		_, err := atomic.NewSequence(s.client, "/sequence").NextDense(ctx)
		return err
	})},

	{"barrier, raise", onTree(func(ctx context.Context, s *scene) error {
		_, err := barriers.NewBarrier(s.client, "/barrier").Raise(ctx)
		return err
	})},
	{"barrier, wait", raised(func(ctx context.Context, b *barriers.Barrier) error { return b.Wait(ctx) })},
	{"barrier, raised", raised(func(ctx context.Context, b *barriers.Barrier) error {
		_, up, err := b.Raised(ctx)
		return errIf(err, !up)
	})},
	{"barrier, lower", raised(func(ctx context.Context, b *barriers.Barrier) error { return b.Lower(ctx) })},
	{"double barrier, alone", onTree(enter(1))},
	{"double barrier, waits", onTree(enter(2))},

	{"persistent node, wait registered", persistent("/node", func(ctx context.Context, n *nodes.PersistentNode) error { _, err := n.WaitRegistered(ctx); return err })},
	{"persistent node, conflict", persistent("/tree", func(ctx context.Context, n *nodes.PersistentNode) error { _, err := n.WaitRegistered(ctx); return err })},
	{"persistent node, set", persistent("/node", func(ctx context.Context, n *nodes.PersistentNode) error { return n.Set(ctx, []byte("x")) })},
	{"persistent node, shutdown", persistent("/node", func(ctx context.Context, n *nodes.PersistentNode) error { return n.Shutdown(ctx) })},
	{"persistent node, changes", persistent("/node", func(ctx context.Context, n *nodes.PersistentNode) error { return none(n.Changes(ctx)) })},
	{"node with a time to live, wait registered", withTTL(func(ctx context.Context, n *nodes.PersistentNode) error { _, err := n.WaitRegistered(ctx); return err })},
	{"node with a time to live, set", withTTL(func(ctx context.Context, n *nodes.PersistentNode) error { return n.Set(ctx, []byte("x")) })},
	{"node with a time to live, changes", withTTL(func(ctx context.Context, n *nodes.PersistentNode) error { return none(n.Changes(ctx)) })},
	{"node with a time to live, shutdown", withTTL(func(ctx context.Context, n *nodes.PersistentNode) error { return n.Shutdown(ctx) })},
	{"group, join and leave", onTree(func(ctx context.Context, s *scene) error {
		m, err := nodes.NewGroup(s.client, "/group").Join(ctx, "a", nil)
		if err == nil {
			err = m.Leave(ctx)
		}
		return err
	})},
	{"group, update", onTree(func(ctx context.Context, s *scene) error {
		m, err := nodes.NewGroup(s.client, "/group").Join(context.WithoutCancel(ctx), "a", nil)
		if err == nil {
			err = m.Update(ctx, []byte("x"))
			err = errors.Join(err, m.Leave(context.WithoutCancel(ctx)))
		}
		return err
	})},
	{"group, members", onTree(func(ctx context.Context, s *scene) error {
		_, err := nodes.NewGroup(s.client, "/tree").Members(ctx)
		return err
	})},
	{"group, changes", onTree(func(ctx context.Context, s *scene) (last error) {
		for _, err := range nodes.NewGroup(s.client, "/tree").Changes(ctx) {
			last = err
		}
		return last
	})},

	{"shared value", onTree(func(ctx context.Context, s *scene) error {
		v, err := shared.NewCount(s.client, "/count", 1)
		if err != nil {
			return err
		}
		defer v.Close()
		if err := v.WaitSynced(ctx); err != nil {
			return err
		}
		if _, err := v.Refresh(ctx); err != nil {
			return err
		}
		return v.Set(ctx, 2)
	})},
	{"shared value, try set", onTree(func(ctx context.Context, s *scene) error {
		v, err := shared.NewCount(s.client, "/count", 1)
		if err != nil {
			return err
		}
		defer v.Close()
		old, err := v.Refresh(ctx)
		if err != nil {
			return err
		}
		_, ok, err := v.TrySet(ctx, old, 2)
		return errIf(err, !ok)
	})},
	{"shared value, update", onTree(func(ctx context.Context, s *scene) error {
		v, err := shared.NewCount(s.client, "/count", 1)
		if err != nil {
			return err
		}
		defer v.Close()
		_, err = v.Update(ctx, func(old int32) (int32, error) { return old + 1, nil })
		return err
	})},
	{"shared value, changes", onTree(func(ctx context.Context, s *scene) (last error) {
		v, err := shared.NewCount(s.client, "/count", 1)
		if err != nil {
			return err
		}
		defer v.Close()
		for _, err := range v.Changes(ctx) {
			last = err
		}
		return last
	})},
	{"cache", onTree(func(ctx context.Context, s *scene) error {
		c, err := cache.New(s.client, "/tree")
		if err != nil {
			return err
		}
		defer c.Close()
		if err := c.WaitSynced(ctx); err != nil {
			return err
		}
		return c.WaitFor(ctx, s.srv.Stats().Zxid)
	})},
	{"cache, read", onTree(func(ctx context.Context, s *scene) error { _, err := cache.Read(ctx, s.client, "/tree"); return err })},
	{"cache, wait for what does not come", cached(func(ctx context.Context, c *cache.Cache) error { return c.WaitFor(ctx, 1_000_000) })},
	{"cache, changes", cached(func(ctx context.Context, c *cache.Cache) error { return none(c.Changes(ctx)) })},
	{"cache, steps", cached(func(ctx context.Context, c *cache.Cache) error { return none(c.Steps(ctx)) })},
	{"registration, update", registered(func(ctx context.Context, r *discovery.Registration) error { return r.Update(ctx, instance) })},
	{"registration, drain", registered(func(ctx context.Context, r *discovery.Registration) error { return r.Drain(ctx) })},
	{"registration, resume", registered(func(ctx context.Context, r *discovery.Registration) error { return r.Resume(ctx) })},
	{"registration, shutdown", registered(func(ctx context.Context, r *discovery.Registration) error { return r.Shutdown(ctx) })},
	{"registration, wait", registered(func(ctx context.Context, r *discovery.Registration) error {
		_, err := r.WaitRegistered(ctx)
		return err
	})},
	{"directory", directory(func(ctx context.Context, d *discovery.Directory) error { return d.WaitSynced(ctx) })},
	{"directory, wait for a transaction", directory(func(ctx context.Context, d *discovery.Directory) error {
		return d.WaitFor(ctx, 1_000_000)
	})},
	{"directory, wait for instances", directory(func(ctx context.Context, d *discovery.Directory) error {
		return d.WaitInstances(ctx, 1)
	})},
	{"directory, changes", directory(func(ctx context.Context, d *discovery.Directory) error { return none(d.Changes(ctx)) })},
	{"inspect", heldBy(func(ctx context.Context, s *scene) (last error) {
		for _, err := range inspect.Walk(ctx, s.client, "/") {
			last = err
		}
		return last
	})},
	{"list of services", heldBy(func(ctx context.Context, s *scene) (last error) {
		for _, err := range inspect.Walk(ctx, s.client, "/", inspect.WithServices(discovery.CuratorCodec())) {
			last = err
		}
		return last
	})},
	{"wait graph", heldBy(func(ctx context.Context, s *scene) error {
		_, err := inspect.WaitGraph(ctx, s.client, []string{"/"})
		return err
	})},
}
