//go:build real

package interop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// lossy are kinds of locks whose holder loses its session, with the kind that
// the other language waits for meanwhile.
var lossy = []struct{ holder, waiter kind }{
	{mutex, mutex},
	{writing, reading},
	{reading, writing},
	{leases(2, 2), leases(2, 2)},
	{semaphoreMutex, semaphoreMutex},
}

func TestJavaHoldersSessionIsKilled(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		java := javaContender{peer: startPeer(t, srv.addr, longSession), name: "thread"}
		ours := srv.contender(t, inGo)
		for _, k := range lossy {
			lock := lockPath(t)
			lost := acquire(t, java.withKind(k.holder), lock)
			waiter := srv.acquireBehind(t, ours.withKind(k.waiter), lock, k.waiter)

			java.peer.must(t, "kill-session")
			next := waiter.wait(t)
			require.Greater(t, next.token, lost.token)

			require.NoError(t, lost.release(), "Java may release late")
			// A late release frees no other holder's lock.
			again := srv.acquireBehind(t, java.withKind(k.holder), lock, k.holder)
			require.NoError(t, next.release())
			require.NoError(t, again.wait(t).release(), "Java goes on in its next session")
			srv.requireNothingLeft(t, k.holder.nodes(lock))
		}
	})
}

func TestOurHoldersSessionIsKilled(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		java := javaContender{peer: startPeer(t, srv.addr, longSession), name: "thread"}
		tap := &interceptor{}
		ours := goContender{client: srv.connect(t, longSession, framework.WithDialer(tap.dial))}
		for _, k := range lossy {
			lock := lockPath(t)
			lost := acquire(t, ours.withKind(k.holder), lock)
			waiter := srv.acquireBehind(t, java.withKind(k.waiter), lock, k.waiter)

			id, password := tap.session(t)
			java.peer.must(t, "kill-session", id, password)
			next := waiter.wait(t)
			require.Greater(t, next.token, lost.token)
			held := lost.holder.(goContender).under.Context()
			<-held.Done()
			require.ErrorIs(t, context.Cause(held), framework.ErrSessionLost)

			require.ErrorIs(t, lost.release(), framework.ErrSessionLost)
			again := srv.acquireBehind(t, ours.withKind(k.holder), lock, k.holder)
			require.NoError(t, next.release())
			require.NoError(t, again.wait(t).release())
			srv.requireNothingLeft(t, k.holder.nodes(lock))
		}
	})
}

// acquireBehind starts to acquire, and waits until there is one more node. At a
// semaphore, that is the waiter's node at the gate.
func (srv *testServer) acquireBehind(t *testing.T, c contender, lock string, k kind) *pending {
	t.Helper()
	nodes := k.nodes(lock)
	if nodes != lock {
		nodes = lock + "/locks"
	}
	names, _, change, err := srv.children(withDeadline(t), nodes)
	require.NoError(t, err)
	change.Stop()
	p := acquireLater(c, lock, waitLimit)
	srv.waitNodes(t, nodes, len(names)+1)
	require.Never(t, p.over, 50*time.Millisecond, 10*time.Millisecond)
	return p
}

// slack allows for the server's tick and for a busy machine.
const slack = waitLimit / 2

// earlyMargin lets our client give up its session well before the server ends
// it. So even on a busy machine its work has ended in time.
var earlyMargin = framework.WithSafetyMargin(0.3)

// Our holder is cut off, and learns that it has lost the lock before Java is
// admitted.
func TestOurHolderIsCutOff(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		lock := lockPath(t)
		theirs := srv.contender(t, inJava)
		tap := &interceptor{}
		client := srv.connect(t, shortSession, framework.WithDialer(tap.dial), earlyMargin)
		lost, err := locks.NewInterProcessMutex(client, lock).Acquire(withDeadline(t))
		require.NoError(t, err)
		waiter := acquireLater(theirs, lock, waitLimit)
		srv.waitNodes(t, lock, 2)

		start := time.Now()
		tap.cut()
		next := waiter.wait(t)
		require.ErrorIs(t, context.Cause(lost.Context()), framework.ErrSessionLost)
		require.Less(t, time.Since(start), shortSession+slack)
		require.Greater(t, next.token, lost.FencingToken())
		require.ErrorIs(t, lost.Release(withDeadline(t)), framework.ErrSessionLost)
		require.NoError(t, next.release())
		srv.requireNothingLeft(t, lock)
	})
}
