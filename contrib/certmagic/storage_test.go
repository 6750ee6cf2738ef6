package certmagic_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	certstore "github.com/gocurator/curator/contrib/certmagic"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestStorageThatCannotBeMade(t *testing.T) {
	_, err := certstore.New(nil, root, open)
	require.ErrorIs(t, err, zk.ErrBadArguments)
	synctest.Test(t, func(t *testing.T) {
		client := curatortest.Connect(t, zktest.Start(t))
		for _, path := range []string{"", "certmagic", "/certmagic/", "//", "/a/../b"} {
			_, err = certstore.New(client, path, open)
			require.ErrorIs(t, err, zk.ErrInvalidPath, path)
		}
		for _, acl := range [][]zk.ACL{nil, {}} {
			_, err = certstore.New(client, root, acl)
			require.ErrorIs(t, err, zk.ErrInvalidACL)
		}
		s, err := certstore.New(client, "/", open)
		require.NoError(t, err)
		require.NoError(t, s.Store(bounded(t), "a", nil))
		require.Equal(t, "ZooKeeper:/", s.String())
	})
}

// Only those who share the credentials can read keys, and list their names.
//
// Promise: Clients without the storage's credentials cannot list the names of keys.
func TestStrangersReadNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		credentials := framework.WithAuth("digest", []byte("web:secret"))
		closed := func(opts ...framework.Option) *certstore.Storage {
			s, err := certstore.New(curatortest.Connect(t, srv, opts...), root, zk.AuthACL(zk.PermAll))
			require.NoError(t, err)
			return s
		}
		ctx := bounded(t)
		ours, alsoOurs, strange := closed(credentials), closed(credentials), closed()
		require.ErrorIs(t, strange.Store(ctx, certKey, nil), zk.ErrInvalidACL, "nobody to close it for")
		require.NoError(t, ours.Lock(ctx, certLock))
		require.NoError(t, ours.Store(ctx, certKey, []byte("key")))
		require.NoError(t, ours.Store(ctx, certKey, []byte("new key")))
		requireValue(t, alsoOurs, certKey, "new key")

		_, err := strange.Load(ctx, certKey)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.NotErrorIs(t, err, fs.ErrNotExist)
		_, err = strange.List(ctx, "", true)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.ErrorIs(t, strange.Store(ctx, certKey, nil), zk.ErrNoAuth)
		require.ErrorIs(t, strange.Delete(ctx, certKey), zk.ErrNoAuth)
		for _, node := range srv.Tree() {
			if len(node.Path) >= len(root+"/keys") && node.Path[:len(root+"/keys")] == root+"/keys" {
				require.Len(t, node.ACL, 1, node.Path)
				require.Equal(t, "digest", node.ACL[0].Scheme, node.Path)
			}
		}
	})
}

// The first call makes the root, and it may be Lock.
func TestProviderClosesRootAndLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		ours := zk.AuthACL(zk.PermAll)
		client := curatortest.Connect(t, srv, framework.WithAuth("digest", []byte("web:secret")),
			framework.WithACLProvider(func(string) []zk.ACL { return ours }))
		s, err := certstore.New(client, root, ours)
		require.NoError(t, err)
		require.NoError(t, s.Lock(bounded(t), certLock))
		require.NoError(t, s.Store(bounded(t), certKey, []byte("key")))
		closed := 0
		for _, node := range srv.Tree() {
			if strings.HasPrefix(node.Path, root) {
				closed++
				require.Len(t, node.ACL, 1, node.Path)
				require.Equal(t, "digest", node.ACL[0].Scheme, node.Path)
			}
		}
		require.Greater(t, closed, 5)
	})
}

// What does not fit into a request is not sent.
func TestValueThatIsTooLarge(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		ctx := bounded(t)
		require.NoError(t, a.Store(ctx, "key", []byte("small")))
		srv.ClearRequests()
		err := a.Store(ctx, "key", bytes.Repeat([]byte("x"), 1<<20))
		require.ErrorIs(t, err, framework.ErrRequestTooLarge)
		require.ErrorContains(t, err, `store "key"`)
		require.Zero(t, srv.CountRequests(zktest.OpAny))
		requireValue(t, b, "key", "small")
	})
}

func TestModified(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, a, b *process) {
		modified := func(key string) time.Time {
			info, err := b.Stat(bounded(t), key)
			require.NoError(t, err)
			return info.Modified
		}
		made := time.Now()
		require.NoError(t, a.Store(bounded(t), "folder/key", []byte("1")))
		require.WithinDuration(t, made, modified("folder/key"), time.Second)
		time.Sleep(time.Hour)
		require.NoError(t, a.Store(bounded(t), "folder/key", []byte("2")))
		require.WithinDuration(t, time.Now(), modified("folder/key"), time.Second)
		require.WithinDuration(t, made, modified("folder"), time.Second)
	})
}

// A missing file, such as a certificate with which the client connects, is no missing
// key.
func TestMissingFileIsNoMissingKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noFile := func(context.Context, string, string) (net.Conn, error) {
			return nil, &fs.PathError{Op: "open", Path: "client.pem", Err: syscall.ENOENT}
		}
		client, err := framework.New("zk:2181", framework.WithDialer(noFile))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, client.Close()) })
		s := storageOf(t, client)
		_, errLoad := s.Load(within(t, time.Minute), "key")
		_, errStat := s.Stat(within(t, time.Second), "key")
		_, errList := s.List(within(t, time.Second), "", true)
		for _, err := range []error{errLoad, errStat, errList} {
			require.ErrorIs(t, err, framework.ErrNotConnected)
			require.ErrorContains(t, err, "client.pem")
			require.NotErrorIs(t, err, fs.ErrNotExist)
			require.ErrorAs(t, err, new(*fs.PathError))
		}
	})
}

// An outage is no key that is missing: certmagic would obtain a new certificate.
//
// Promise: During an outage, reads do not report a key as missing.
func TestOutageIsNoMissingKey(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, _ *process) {
		require.NoError(t, a.Store(bounded(t), "key", nil))
		a.host.Disconnect()
		_, errLoad := a.Load(within(t, time.Minute), "key")
		_, errStat := a.Stat(within(t, time.Minute), "key")
		_, errList := a.List(within(t, time.Minute), "", true)
		for _, err := range []error{errLoad, errStat, errList} {
			require.ErrorIs(t, err, framework.ErrNotConnected)
			require.NotErrorIs(t, err, fs.ErrNotExist)
		}
		require.False(t, a.Exists(within(t, time.Minute), "key"))
		require.ErrorIs(t, a.Store(within(t, time.Minute), "key", nil), framework.ErrNotConnected)
		require.ErrorIs(t, a.Delete(within(t, time.Minute), "key"), framework.ErrNotConnected)
		a.host.Heal()
		require.True(t, a.Exists(bounded(t), "key"))
		ended, cancel := context.WithCancel(bounded(t))
		cancel()
		_, err := a.Load(ended, "key")
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, a.Store(ended, "key", nil), context.Canceled)
	})
}

// A process finds what another has stored a moment ago, also at a server that lags.
//
// Promise: A read returns what was stored before it, even from a server that lags.
func TestReadsAreUpToDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		at := func(m *zktest.Member) *certstore.Storage {
			return storageOf(t, curatortest.Connect(t, m))
		}
		writer, reader := at(ens.Leader()), at(ens.Followers()[0])
		require.NoError(t, ens.Followers()[0].Lag(3*time.Second))
		ctx := bounded(t)
		for i := range 3 {
			key := fmt.Sprintf("key%d", i)
			require.NoError(t, writer.Store(ctx, key, []byte("1")))
			requireValue(t, reader, key, "1")
			require.NoError(t, writer.Store(ctx, key, []byte("new")))
			info, err := reader.Stat(ctx, key)
			require.NoError(t, err)
			require.EqualValues(t, 3, info.Size)
			require.NoError(t, writer.Store(ctx, key+"/below", nil))
			keys, err := reader.List(ctx, key, false)
			require.NoError(t, err)
			require.Len(t, keys, 1)
			require.NoError(t, writer.Delete(ctx, key))
			require.False(t, reader.Exists(ctx, key))
		}
	})
}

// Connections end with each request in turn, before it is carried out or after.
//
// Promise: A write is repeated if its reply was lost.
func TestWritesWhoseConnectionEnds(t *testing.T) {
	for name, fault := range map[string]zktest.Action{"request": zktest.DropRequest(), "reply": zktest.DropReply()} {
		for after := range 8 {
			t.Run(fmt.Sprint(name, after), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
					ctx := bounded(t)
					injected := srv.Inject(zktest.Rule{Optional: true, Session: a.client.SessionID(), After: after, Do: fault})
					require.NoError(t, a.Store(ctx, "a/b", []byte("1")))
					require.NoError(t, a.Store(ctx, "a/b", []byte("2")))
					require.NoError(t, a.Store(ctx, "a/c/d", []byte("3")))
					requireValue(t, b, "a/b", "2")
					requireValue(t, b, "a/c/d", "3")
					require.NoError(t, a.Delete(ctx, "a"))
					require.False(t, b.Exists(ctx, "a"))
					require.Equal(t, 1, injected.Hits())
				})
			})
		}
	}
}

// A proxy or a server that hangs up on each write does not hold Store up for ever.
func TestWriteThatNeverSucceeds(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, _ *process) {
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropRequest(), Times: -1})
		begun := time.Now()
		require.Error(t, a.Store(bounded(t), "key", nil))
		require.Less(t, time.Since(begun), 10*time.Minute)
	})
}

// A write that may have succeeded says so, also if a later try fails otherwise.
func TestWriteThatMayHaveSucceeded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		require.NoError(t, a.Store(bounded(t), "key", []byte("old")))
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.All(
			zktest.CallAfter(func(zktest.Request) { a.host.Disconnect() }),
			zktest.DropReply(),
		)})
		err := a.Store(bounded(t), "key", []byte("new"))
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		requireValue(t, b, "key", "new")
	})
}
