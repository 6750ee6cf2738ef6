package interop_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// lossy are kinds of locks whose holder loses its session, and what the other language waits for meanwhile.
var lossy = []struct{ holder, waiter kind }{
	{mutex, mutex}, {writing, reading}, {reading, writing}, {leases(2, 2), leases(2, 2)}, {semaphoreMutex, semaphoreMutex},
}

func TestJavaHoldersSessionIsKilled(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		java, ours := javaContender{peer: startPeer(t, w.addr, longSession), name: "thread"}, w.contender(t, inGo)
		for _, k := range lossy {
			lock := lockPath(t)
			lost := acquire(t, java.as(k.holder), lock)
			waiter := w.acquireBehind(t, ours.as(k.waiter), lock, k.waiter)

			java.peer.must(t, "kill-session")
			next := waiter.wait(t)
			require.Greater(t, next.token, lost.token)

			require.NoError(t, lost.release(), "Java may release late")
			again := w.acquireBehind(t, java.as(k.holder), lock, k.holder) // a late release takes nobody else's lock
			require.NoError(t, next.release())
			require.NoError(t, again.wait(t).release(), "Java goes on in its next session")
			w.nothingLeft(t, k.holder.nodes(lock))
		}
	})
}

func TestOurHoldersSessionIsKilled(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		java := javaContender{peer: startPeer(t, w.addr, longSession), name: "thread"}
		tap := &tap{}
		ours := goContender{client: w.connect(t, longSession, framework.WithDialer(tap.dial))}
		for _, k := range lossy {
			lock := lockPath(t)
			lost := acquire(t, ours.as(k.holder), lock)
			waiter := w.acquireBehind(t, java.as(k.waiter), lock, k.waiter)

			id, password := tap.session(t)
			java.peer.must(t, "kill-session", id, password)
			next := waiter.wait(t)
			require.Greater(t, next.token, lost.token)
			held := lost.holder.(goContender).under.Context()
			<-held.Done()
			require.ErrorIs(t, context.Cause(held), framework.ErrSessionLost)

			require.ErrorIs(t, lost.release(), framework.ErrSessionLost)
			again := w.acquireBehind(t, ours.as(k.holder), lock, k.holder)
			require.NoError(t, next.release())
			require.NoError(t, again.wait(t).release())
			w.nothingLeft(t, k.holder.nodes(lock))
		}
	})
}

// acquireBehind begins to acquire, and waits until there is one node more.
func (w *world) acquireBehind(t *testing.T, c contender, lock string, k kind) *pending {
	t.Helper()
	names, change, err := w.children(patience(t), k.nodes(lock))
	require.NoError(t, err)
	change.Stop()
	p := acquireLater(c, lock, tooLong)
	w.waitNodes(t, k.nodes(lock), len(names)+1)
	require.Never(t, p.over, 50*time.Millisecond, 10*time.Millisecond)
	return p
}

// A waiter that loses its session loses its place, too: the one behind it, in the other language, is admitted first.
// The waiter must watch its predecessor already. If its session ends before that, Curator sets the watch in the next
// session, and notices only when it fires that its own node is gone.
func TestJavaWaitersSessionIsKilled(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		java := startPeer(t, w.addr, longSession)
		ours := w.contender(t, inGo)
		w.losesItsPlace(t, ours, javaContender{peer: java, name: "thread"}, ours, func() { java.must(t, "kill-session") })
	})
}

func TestOurWaitersSessionIsKilled(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		java := startPeer(t, w.addr, longSession)
		tap := &tap{}
		ours := goContender{client: w.connect(t, longSession, framework.WithDialer(tap.dial))}
		theirs := javaContender{peer: java, name: "holder"}
		w.losesItsPlace(t, theirs, ours, colleague(theirs), func() {
			id, password := tap.session(t)
			java.must(t, "kill-session", id, password)
		})
	})
}

// losesItsPlace has three queue, and the session of the second killed, for locks of several kinds.
func (w *world) losesItsPlace(t *testing.T, first, second, third contender, kill func()) {
	for _, k := range [][3]kind{{mutex, mutex, mutex}, {writing, writing, reading}, {writing, reading, writing}, {reading, writing, reading}} {
		lock := lockPath(t)
		holder := acquire(t, first.as(k[0]), lock)
		unlucky := w.acquireBehind(t, second.as(k[1]), lock, k[1])
		queue := w.waitNodes(t, lock, 2)
		w.waitWatched(t, holder.node, true)
		behind := w.acquireBehind(t, third.as(k[2]), lock, k[2])

		kill()
		if k[0] == reading { // only the one that is gone was in the other reader's way
			require.NoError(t, behind.wait(t).release())
			require.NoError(t, holder.release())
		} else {
			w.waitOthers(t, lock, 3, queue)
			require.False(t, behind.over())
			require.NoError(t, holder.release())
			next := behind.wait(t)
			require.False(t, unlucky.over())
			require.NoError(t, next.release())
			require.Greater(t, unlucky.wait(t).token, next.token)
		}
		require.NoError(t, unlucky.wait(t).release())
		w.nothingLeft(t, lock)
	}
}

// slack is for the server's tick, and for a busy machine.
const slack = tooLong / 2

func TestJavaProcessIsKilledWhileHolding(t *testing.T) {
	t.Parallel()
	inBothWorlds(t, func(t *testing.T, w *world) {
		lock := lockPath(t)
		ours := w.contender(t, inGo)
		java := startPeer(t, w.addr, shortSession)
		lost := acquire(t, javaContender{peer: java, name: "thread"}, lock)
		waiter := acquireLater(ours, lock, tooLong)
		w.waitNodes(t, lock, 2)

		start := time.Now()
		java.kill()
		next := waiter.wait(t)
		require.Less(t, time.Since(start), shortSession+slack)
		require.Greater(t, next.token, lost.token)
		require.NoError(t, next.release())
		w.nothingLeft(t, lock)
	})
}

// early has ours give up its session long enough before the server ends it that, even on a busy machine, it is over in time
// with whatever it does.
var early = framework.WithSafetyMargin(0.3)

// Our holder is cut off, and knows that it has lost the lock before Java is admitted.
func TestOurHolderIsCutOff(t *testing.T) {
	t.Parallel()
	inBothWorlds(t, func(t *testing.T, w *world) {
		lock := lockPath(t)
		theirs := w.contender(t, inJava)
		tap := &tap{}
		client := w.connect(t, shortSession, framework.WithDialer(tap.dial), early)
		lost, err := recipes.NewInterProcessMutex(client, lock).Acquire(patience(t))
		require.NoError(t, err)
		waiter := acquireLater(theirs, lock, tooLong)
		w.waitNodes(t, lock, 2)

		start := time.Now()
		tap.cut()
		next := waiter.wait(t)
		require.ErrorIs(t, context.Cause(lost.Context()), framework.ErrSessionLost)
		require.Less(t, time.Since(start), shortSession+slack)
		require.Greater(t, next.token, lost.FencingToken())
		require.ErrorIs(t, lost.Release(patience(t)), framework.ErrSessionLost)
		require.NoError(t, next.release())
		w.nothingLeft(t, lock)
	})
}

// waitOthers waits until there are n contenders, and one of the old ones is not among them.
func (w *world) waitOthers(t *testing.T, lock string, n int, old []string) {
	t.Helper()
	ctx := patience(t)
	for {
		names, change, err := w.children(ctx, lock)
		require.NoError(t, err)
		gone := func(name string) bool { return !slices.Contains(names, name) }
		if len(names) == n && slices.ContainsFunc(old, gone) {
			change.Stop()
			return
		}
		_, err = change.Wait(ctx)
		require.NoError(t, err, "waiting for %d children of %s, which has %v", n, lock, names)
	}
}
