//go:build real

package interop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
)

func TestWeRevokeJavasLock(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		lock := lockPath(t)
		java, ours := startPeer(t, srv.addr, longSession), goContender{client: srv.connect(t, longSession)}
		holder := acquire(t, javaContender{peer: java, name: "thread", kind: revocable}, lock)
		waiter := srv.acquireBehind(t, ours, lock, mutex)
		participants, err := ours.participants(withDeadline(t), lock, mutex)
		require.NoError(t, err)
		require.Len(t, participants, 2)
		require.True(t, participants[0].Holder)
		java.timesOut(t, "await-revocation", "thread", shortWaitMs)

		require.NoError(t, locks.Revoke(withDeadline(t), ours.client, participants[0].Path))
		java.must(t, "await-revocation", "thread", waitLimitMs)
		require.False(t, waiter.over(), "it is for the holder to release")
		require.NoError(t, holder.release())
		require.NoError(t, waiter.wait(t).release())
		srv.requireNothingLeft(t, lock)
	})
}

func TestJavaRevokesOurLock(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		java, ours := startPeer(t, srv.addr, longSession), srv.contender(t, inGo)
		for _, kind := range []kind{mutex, revocable} {
			lock := lockPath(t)
			holder := acquire(t, ours.withKind(kind), lock)
			lease := holder.holder.(goContender).under
			waiter := srv.acquireBehind(t, javaContender{peer: java, name: "thread"}, lock, mutex)

			java.must(t, "revoke", java.must(t, "participants", lock)[0])
			if kind == mutex { // the lease of a plain mutex goes on
				<-lease.Revoked()
				require.NoError(t, lease.Context().Err())
				require.Never(t, waiter.over, 50*time.Millisecond, 10*time.Millisecond)
				require.NoError(t, holder.release())
			} else {
				<-lease.Context().Done()
				require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrRevoked)
				require.ErrorIs(t, holder.release(), locks.ErrRevoked)
			}
			require.NoError(t, waiter.wait(t).release())
			srv.requireNothingLeft(t, lock)
		}
	})
}
