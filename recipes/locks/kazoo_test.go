package locks_test

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// asKazoo queues as kazoo's Lock does, or its ReadLock.
func asKazoo(t *testing.T, conn *zk.Conn, dir, kind string) (node string) {
	t.Helper()
	node, err := conn.Create(dir+"/"+strings.Repeat("0f", 16)+kind, []byte("me"), zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	return path.Base(node)
}

var kazooContender = regexp.MustCompile(`(?:__lock__)(-?\d{10})$`)

// kazooPredecessor returns the contender for which kazoo's Lock waits, or nothing.
func kazooPredecessor(children []string, node string) (predecessor string) {
	queue := slices.DeleteFunc(slices.Clone(children), func(name string) bool { return !kazooContender.MatchString(name) })
	number := func(name string) string { return kazooContender.FindStringSubmatch(name)[1] }
	slices.SortFunc(queue, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	if i := slices.Index(queue, node); i > 0 {
		return queue[i-1]
	}
	return ""
}

// Promise: A mutex WithKazooNames and kazoo's Lock and ReadLock at one path exclude each
// other, in the order of their arrival.
func TestMutexWithKazooNamesSharesALockWithKazoo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const dir = "/locks/shared"
		conn, ctx := w.zkConn(t), t.Context()
		c, _ := w.Connect(t)
		mutex := locks.NewInterProcessMutex(c, dir, locks.WithKazooNames())
		lease := locktest.Acquire(t, ctx, mutex)
		require.Regexp(t, `^_c_[0-9a-f-]{36}-__lock__0000000000$`, path.Base(lease.Path()))

		writer := asKazoo(t, conn, dir, "__lock__")
		other, _ := w.Connect(t)
		next := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(other, dir, locks.WithKazooNames()))
		require.ErrorIs(t, locks.Revoke(ctx, c, dir+"/"+writer), zk.ErrInvalidPath)
		require.NoError(t, locks.Revoke(ctx, c, lease.Path()))
		<-lease.Revoked()
		synctest.Wait()
		require.NoError(t, conn.Delete(dir+"/"+asKazoo(t, conn, dir, "__rlock__"), -1))
		last := asKazoo(t, conn, dir, "__lock__")
		require.Equal(t, path.Base(lease.Path()), kazooPredecessor(w.Fake.Children(dir), writer))
		require.NoError(t, lease.Release(ctx))
		synctest.Wait()
		require.Empty(t, kazooPredecessor(w.Fake.Children(dir), writer), "kazoo has it")
		_, err := mutex.TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired)

		require.NoError(t, conn.Delete(dir+"/"+writer, -1))
		lease = next.Wait(t)
		require.Equal(t, path.Base(lease.Path()), kazooPredecessor(w.Fake.Children(dir), last))
		all, err := mutex.Participants(ctx)
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.Equal(t, dir+"/"+last, all[1].Path)
		require.NoError(t, conn.Delete(dir+"/"+last, -1))
		require.NoError(t, lease.Release(ctx))

		reader := asKazoo(t, conn, dir, "__rlock__")
		_, err = mutex.TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, conn.Delete(dir+"/"+reader, -1))
		time.Sleep(time.Hour)
		require.Empty(t, w.Fake.Children(dir))
		_ = asKazoo(t, conn, dir, "__lock__") // the path is no container, which would be gone
	})
}

// Promise: Candidates WithKazooNames and candidates of kazoo's Election have one
// leader, whom leader.Now returns.
func TestCandidatesWithKazooNamesStandWithKazoo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const dir = "/leader"
		conn, ctx := w.zkConn(t), t.Context()
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create(dir, nil))
		theirs := asKazoo(t, conn, dir, "__lock__")
		latch, err := leader.NewLatch(c, dir, leader.WithKazooNames(), leader.WithID("latch"))
		require.NoError(t, err)
		w.WaitNodes(t, dir, 2)
		now, err := leader.Now(ctx, c, dir)
		require.NoError(t, err)
		require.Equal(t, "me", now.ID())
		require.Nil(t, latch.Leadership())
		require.NoError(t, conn.Delete(dir+"/"+theirs, -1))
		_, err = latch.WaitLeadership(ctx)
		require.NoError(t, err)
		selector := leader.NewSelector(c, dir, leader.WithKazooNames())
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		require.ErrorIs(t, selector.Run(short, func(context.Context) error { return nil }), locks.ErrNotAcquired, "the latch leads")
		now, err = leader.Now(ctx, c, dir)
		require.NoError(t, err)
		require.Equal(t, "latch", now.ID())
		require.NoError(t, latch.Shutdown(ctx))
		require.NoError(t, selector.Run(ctx, func(context.Context) error { return nil }))
	})
}
