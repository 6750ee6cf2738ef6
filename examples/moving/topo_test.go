package moving

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// Topo keeps files and directories, and locks directories, as vitess' topo.Conn does.
type Topo struct{ client *framework.Client }

// Lock waits for the lock of a directory that exists. The contents say who has it.
func (t *Topo) Lock(ctx context.Context, dir, contents string) (*DirLock, error) {
	switch there, _, err := t.client.Exists(ctx, dir); {
	case err != nil:
		return nil, err
	case !there:
		return nil, fmt.Errorf("lock %s: %w", dir, zk.ErrNoNode)
	}
	lease, err := locks.NewInterProcessMutex(t.client, dir, locks.WithNodeData([]byte(contents))).Acquire(ctx)
	if err != nil {
		return nil, err // names the holder, if ctx has ended
	}
	return &DirLock{lease}, nil
}

// DirLock is a lock that is held. Work under lease.WithContext.
type DirLock struct{ lease *locks.Lease }

// Check returns why the lock is lost, or nil. It sends no request.
func (l *DirLock) Check() error { return context.Cause(l.lease.Context()) }

// Unlock may be called with a context that has ended.
func (l *DirLock) Unlock(ctx context.Context) error { return l.lease.Release(ctx) }

// List returns the names in a directory, without the nodes of contenders for its lock.
func (t *Topo) List(ctx context.Context, dir string) ([]string, error) {
	names, _, err := t.client.Children(ctx, dir)
	return slices.DeleteFunc(names, locks.IsContender), err
}

// Watch returns a file, and the newest contents after each change. When the file is
// deleted, the channel is closed, and stop returns zk.ErrNoNode.
func (t *Topo) Watch(ctx context.Context, file string) (now cache.Node, changes <-chan cache.Node, stop func() error, err error) {
	c, err := cache.New(t.client, file, cache.WithDepth(0))
	if err != nil {
		return now, nil, nil, err
	}
	err = c.WaitSynced(ctx)
	now, there := c.Get(file)
	if err == nil && !there {
		err = fmt.Errorf("watch %s: %w", file, zk.ErrNoNode)
	}
	if err != nil {
		c.Close()
		return now, nil, nil, err
	}
	changes, stop = recipes.Latest(ctx, func(ctx context.Context) iter.Seq2[cache.Node, error] {
		return func(yield func(cache.Node, error) bool) {
			defer c.Close()
			for change, err := range c.Changes(ctx) {
				if change.Type == cache.Deleted {
					err = zk.ErrNoNode
				}
				isNews := err != nil || change.New.Stat.Mzxid > now.Stat.Mzxid
				if isNews && !yield(change.New, err) || err != nil {
					return
				}
			}
		}
	})
	return now, changes, stop, nil
}

func TestTopoLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		topo, other := &Topo{curatortest.Connect(t, srv)}, &Topo{curatortest.Connect(t, srv)}
		ctx := t.Context()
		_, err := topo.Lock(ctx, "/keyspace", "me")
		require.ErrorIs(t, err, zk.ErrNoNode)
		_, err = topo.client.Create(ctx, "/keyspace/shard", nil, framework.WithParents())
		require.NoError(t, err)
		lock, err := topo.Lock(ctx, "/keyspace", "me")
		require.NoError(t, err)
		require.NoError(t, lock.Check())
		names, err := topo.List(ctx, "/keyspace")
		require.NoError(t, err)
		require.Equal(t, []string{"shard"}, names)
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err = other.Lock(short, "/keyspace", "other")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "me")
		srv.Session(topo.client.SessionID()).Expire()
		lock2, err := other.Lock(ctx, "/keyspace", "other")
		require.NoError(t, err)
		<-lock.lease.Context().Done()
		require.ErrorIs(t, lock.Check(), framework.ErrSessionLost)
		require.ErrorIs(t, lock.Unlock(ctx), framework.ErrSessionLost)
		require.NoError(t, lock2.Unlock(short))
	})
}

func TestTopoWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		topo, ctx := &Topo{curatortest.Connect(t, srv)}, t.Context()
		_, _, _, err := topo.Watch(ctx, "/file")
		require.ErrorIs(t, err, zk.ErrNoNode)
		require.NoError(t, srv.Create("/file", []byte("1")))
		now, changes, stop, err := topo.Watch(ctx, "/file")
		require.NoError(t, err)
		require.Equal(t, "1", string(now.Data))
		for _, data := range []string{"2", "3"} {
			require.NoError(t, srv.Set("/file", []byte(data)))
			require.Equal(t, data, string((<-changes).Data))
		}
		srv.Session(topo.client.SessionID()).Expire()
		time.Sleep(time.Minute)
		require.NoError(t, srv.Set("/file", []byte("4")))
		require.Equal(t, "4", string((<-changes).Data))
		require.NoError(t, srv.Delete("/file"))
		_, open := <-changes
		require.False(t, open)
		require.ErrorIs(t, stop(), zk.ErrNoNode)
	})
}
