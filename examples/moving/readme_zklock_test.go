package moving

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// Lock has the methods of go-zookeeper's zk.Lock, and Context. Each goroutine needs its
// own Lock, as with zk.Lock.
type Lock struct {
	client *framework.Client
	path   string
	lease  *locks.Lease
}

func NewLock(client *framework.Client, path string) *Lock {
	return &Lock{client: client, path: path}
}

func (l *Lock) Lock() error {
	return l.LockWithData(nil) // the node says service, host and process
}

func (l *Lock) LockWithData(data []byte) error {
	if l.lease != nil {
		return zk.ErrDeadlock
	}
	var opts []locks.MutexOption
	if data != nil {
		opts = append(opts, locks.WithNodeData(data))
	}
	lease, err := locks.NewInterProcessMutex(l.client, l.path, opts...).Acquire(context.Background())
	l.lease = lease
	return err
}

func (l *Lock) Unlock() error {
	if l.lease == nil {
		return zk.ErrNotLocked
	}
	lease := l.lease
	l.lease = nil
	return lease.Release(context.Background())
}

// Context ends when the lock is lost or unlocked. Work under it. Without the lock,
// it has ended.
func (l *Lock) Context() context.Context {
	if l.lease == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(zk.ErrNotLocked)
		return ctx
	}
	return l.lease.Context()
}

func TestShimOfZkLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := curatortest.Connect(t, srv)
		lock, other := NewLock(client, "/locks/shim"), NewLock(client, "/locks/shim")
		require.ErrorIs(t, lock.Unlock(), zk.ErrNotLocked)
		require.ErrorIs(t, context.Cause(lock.Context()), zk.ErrNotLocked)
		require.NoError(t, lock.Lock())
		require.ErrorIs(t, lock.Lock(), zk.ErrDeadlock)
		held := lock.Context()
		require.NoError(t, held.Err())

		require.NoError(t, lock.Unlock())
		require.ErrorIs(t, context.Cause(held), locks.ErrReleased)
		require.NoError(t, other.LockWithData([]byte("other")))
		people, err := locks.NewInterProcessMutex(client, "/locks/shim").Participants(t.Context())
		require.NoError(t, err)
		require.Len(t, people, 1)
		data, _, err := client.Get(t.Context(), people[0].Path)
		require.NoError(t, err)
		require.Equal(t, "other", string(data))
		require.NoError(t, other.Unlock())
	})
}
