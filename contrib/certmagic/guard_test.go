package certmagic_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	certstore "github.com/gocurator/curator/contrib/certmagic"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// The holder does not know that its lock is lost, and the next one has stored
// something already: the servers refuse the late Store, and the late Delete with
// which certmagic takes back what it has stored.
//
// Promise: A write under a lost lock is refused by the server.
func TestLateWritesOfALostLockAreRefused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		ctx := bounded(t)
		require.NoError(t, a.Lock(ctx, certLock))
		require.NoError(t, a.Store(ctx, certKey, []byte("a")))
		loseLock(t, srv, certLock)
		require.NoError(t, b.Lock(ctx, certLock))
		require.NoError(t, b.Store(ctx, certKey, []byte("b")))

		require.ErrorIs(t, a.Store(ctx, certKey, []byte("late")), certstore.ErrLockLost)
		require.ErrorIs(t, a.Store(ctx, certKey+".new", []byte("late")), certstore.ErrLockLost)
		require.ErrorIs(t, a.Delete(ctx, certKey), certstore.ErrLockLost)
		require.ErrorIs(t, a.Delete(ctx, "certificates"), certstore.ErrLockLost)
		requireValue(t, b, certKey, "b")
		keys, err := b.List(ctx, "certificates/test/example.com", true)
		require.NoError(t, err)
		require.Equal(t, []string{certKey}, keys)

		time.Sleep(2 * time.Second) // until the holder notices
		err = a.Unlock(ctx, certLock)
		require.ErrorIs(t, err, certstore.ErrLockLost)
		require.ErrorIs(t, err, locks.ErrNodeDeleted)
		require.NoError(t, b.Store(ctx, certKey, []byte("b again")), "the lock of b is still there")
		require.NoError(t, b.Unlock(ctx, certLock))
	})
}

// The holder was cut off for longer than its session, and goes on.
func TestWritesAfterALostSessionAreRefused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		ctx := bounded(t)
		require.NoError(t, a.Lock(ctx, certLock))
		a.host.LoseSessions()
		require.NoError(t, b.Lock(ctx, certLock))
		require.NoError(t, b.Store(ctx, certKey, []byte("b")))
		require.NoError(t, b.Unlock(ctx, certLock))
		require.NoError(t, a.client.WaitConnected(ctx))

		srv.ClearRequests()
		err := a.Store(ctx, certKey, []byte("late"))
		require.ErrorIs(t, err, certstore.ErrLockLost)
		require.ErrorIs(t, err, framework.ErrSessionLost)
		require.ErrorIs(t, a.Delete(ctx, certKey), certstore.ErrLockLost)
		require.Zero(t, srv.CountRequests(zktest.OpMulti), "it knows")
		requireValue(t, a, certKey, "b")

		require.ErrorIs(t, a.Unlock(ctx, certLock), certstore.ErrLockLost)
		require.NoError(t, a.Store(ctx, certKey, []byte("later")), "nothing guards it any more")
	})
}

// A Store whose reply was lost is made again, and not if the lock was lost in
// between.
func TestStoreWhoseReplyIsLost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		ctx := bounded(t)
		require.NoError(t, a.Lock(ctx, certLock))
		require.NoError(t, a.Store(ctx, certKey, []byte("a")))
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.All(
			zktest.CallAfter(func(zktest.Request) { loseLock(t, srv, certLock) }),
			zktest.DropReply(),
		)})
		err := a.Store(ctx, certKey, []byte("in time"))
		require.ErrorIs(t, err, certstore.ErrLockLost)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.NoError(t, b.Lock(ctx, certLock))
		requireValue(t, b, certKey, "in time") // of the first try, under the lock
	})
}

// What guards what: a lock is lost, and a write of the key is refused or not.
func TestKeysThatALockGuards(t *testing.T) {
	for lock, keys := range map[string]map[string]bool{
		"issue_cert_example.com": {
			"certificates/test/example.com/example.com.key":                   true,
			"certificates/test/example.com/example.com.key.compromised":       true,
			"certificates/other/example.com/example.com.json":                 true,
			"acme/test/challenge_tokens/example.com.json":                     true,
			"certificates/test/www.example.com/www.example.com.crt":           false,
			"certificates/test/example.com.evil.org/example.com.evil.org.crt": false,
			"certificates/example.com":                                        false,
			"example.com":                                                     false,
			"ocsp/example.com-1a2b3c4d":                                       false,
			"rw_test_1":                                                       false,
			"issue_cert_example.com":                                          true,
			"issue_cert_example.com/x":                                        true,
			"issue_cert_example.comx":                                         false,
		},
		"issue_cert_*.example.com": {
			"certificates/test/wildcard_.example.com/wildcard_.example.com.crt": true,
			"certificates/test/example.com/example.com.crt":                     false,
		},
		"issue_cert_Bücher.example": {
			"certificates/test/xn--bcher-kva.example/xn--bcher-kva.example.crt": true,
		},
		"issue_cert_2001:db8::1": {
			"certificates/test/2001-db8--1/2001-db8--1.crt": true,
		},
		"register_acme_account_Me@example.com": {
			"acme/test/users/me@example.com/me.json":  true,
			"acme/test/users/me@example.com/me.key":   true,
			"acme/test/users/you@example.com/you.key": false,
		},
		"register_acme_account": {
			"acme/test/users/default/default.key":     true,
			"acme/test/users/me@example.com/me.key":   false,
			"acme/test/challenge_tokens/example.json": false,
		},
		"a/b":           {"a/b": true, "a//b/": true, "a/b/c": true, "a/bc": false, "a": false, "x/a/b": false},
		"":              {"a": false, certKey: false},
		"storage_clean": {"last_clean.json": false, certKey: false},
	} {
		t.Run(lock, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, _ *process) {
				ctx := bounded(t)
				require.NoError(t, a.Lock(ctx, lock))
				for key := range keys {
					require.NoError(t, a.Store(ctx, key, nil), key)
				}
				for _, name := range srv.Children(root + "/locks") {
					loseLock(t, srv, name)
				}
				for key, guarded := range keys {
					if err := a.Store(ctx, key, []byte("late")); guarded {
						require.ErrorIs(t, err, certstore.ErrLockLost, key)
						requireValue(t, a, key, "")
					} else {
						require.NoError(t, err, key)
					}
				}
			})
		})
	}
}

// A lock that is lost is in nobody's way who does not need it.
func TestLostLockRefusesNothingElse(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, a, _ *process) {
		ctx := bounded(t)
		const another = "certificates/test/example.org/example.org.key"
		require.NoError(t, a.Lock(ctx, certLock))
		a.host.LoseSessions()
		require.NoError(t, a.Lock(ctx, "issue_cert_example.org"), "in the next session")
		require.NoError(t, a.Store(ctx, another, []byte("1")))
		require.ErrorIs(t, a.Store(ctx, certKey, []byte("1")), certstore.ErrLockLost)
		require.NoError(t, a.Unlock(ctx, "issue_cert_example.org"))
	})
}
