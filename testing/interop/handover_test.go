package interop_test

import (
	"context"
	"fmt"
	"net"
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
)

func TestHandOver(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world, holder, waiter language) {
		lock := lockPath(t)
		first := acquire(t, w.contender(t, holder), lock)
		second := acquireLater(w.contender(t, waiter), lock, tooLong)
		w.waitNodes(t, lock, 2)
		require.Never(t, second.over, 100*time.Millisecond, 10*time.Millisecond)

		require.NoError(t, first.release())
		next := second.wait(t)
		require.Greater(t, next.token, first.token)
		require.Equal(t, []string{path.Base(next.node)}, w.waitNodes(t, lock, 1))
		require.NoError(t, next.release())
		w.nothingLeft(t, lock)
	})
}

// Fencing tokens of both languages are one sequence, also across deletion of the lock's path.
func TestTokensGrowAcrossLanguages(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		lock := lockPath(t)
		contenders := []contender{w.contender(t, inGo), w.contender(t, inJava)}
		var last int64
		for i := range 8 {
			g := acquire(t, contenders[i%2], lock)
			ok, stat, err := w.observer.Exists(patience(t), g.node)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, stat.Czxid, g.token)
			require.Greater(t, g.token, last)
			last = g.token
			require.NoError(t, g.release())
			if i%4 == 3 {
				w.waitReaped(t, lock)
			}
		}
	})
}

// Java sees our nodes as participants like its own, and everybody is admitted in the order in which the nodes were made.
func TestMixedQueueIsAdmittedInOrderOfArrival(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		lock := lockPath(t)
		c1, c2 := w.contender(t, inGo), w.contender(t, inGo)
		java1, java2 := startPeer(t, w.addr, longSession), startPeer(t, w.addr, longSession)
		queue := []contender{
			javaContender{java1, "a"}, c1, javaContender{java2, "a"}, c2, c1,
			javaContender{java1, "b"}, javaContender{java1, "c"}, c2, javaContender{java2, "b"},
		}
		type admission struct {
			place int
			grant grant
			err   error
		}
		holder := acquire(t, c1, lock)
		admitted := make(chan admission, len(queue))
		for i, c := range queue {
			go func() {
				g, err := c.acquire(lock, tooLong)
				admitted <- admission{i, g, err}
			}()
			w.waitNodes(t, lock, i+2) // the next one comes when this one is in the queue
		}

		participants := java2.must(t, "participants", lock)
		require.Len(t, participants, len(queue)+1)
		for i, node := range participants {
			require.Equal(t, node, holder.node, "participant %d of Java's list holds the lock", i)
			require.NoError(t, holder.release())
			if i == len(queue) {
				break
			}
			next := <-admitted
			require.NoError(t, next.err)
			require.Equal(t, i, next.place)
			require.Greater(t, next.grant.token, holder.token)
			holder = next.grant
		}
		w.nothingLeft(t, lock)
	})
}

// A waiter that gives up leaves nothing, and lets nobody in: those behind it now watch the holder, in the other language.
func TestWaiterThatGivesUpDoesNotDisturbTheQueue(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world, one, other language) {
		lock := lockPath(t)
		holder := acquire(t, w.contender(t, one), lock)
		leaver := w.contender(t, other)
		last := w.contender(t, one)
		require.NoError(t, acquire(t, last, lock+"-warm-up").release(), "a JVM's first acquire is slow")

		leaving := acquireLater(leaver, lock, 1500*time.Millisecond) // time enough for the last to arrive
		w.waitNodes(t, lock, 2)
		waiting := acquireLater(last, lock, tooLong)
		w.waitNodes(t, lock, 3)

		<-leaving.done
		if other == inJava {
			require.ErrorIs(t, leaving.err, errTimeout)
		} else {
			require.ErrorIs(t, leaving.err, context.DeadlineExceeded)
			require.ErrorContains(t, leaving.err, path.Base(holder.node), "the error names the holder")
		}
		require.Contains(t, w.waitNodes(t, lock, 2), path.Base(holder.node))
		require.Never(t, waiting.over, 100*time.Millisecond, 10*time.Millisecond)

		require.NoError(t, holder.release())
		require.NoError(t, waiting.wait(t).release())
		w.nothingLeft(t, lock)
	})
}

func TestJavaTimesOutOnOurLockAndLeavesNothing(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		lock := lockPath(t)
		holder := acquire(t, w.contender(t, inGo), lock)
		java := w.contender(t, inJava)
		for _, wait := range []time.Duration{0, 200 * time.Millisecond} {
			start := time.Now()
			_, err := java.acquire(lock, wait)
			require.ErrorIs(t, err, errTimeout)
			require.GreaterOrEqual(t, time.Since(start), wait)
			require.Equal(t, []string{path.Base(holder.node)}, w.waitNodes(t, lock, 1))
		}
		require.NoError(t, holder.release())
		require.NoError(t, acquire(t, java, lock).release(), "the lock is free for those who come later")
		w.nothingLeft(t, lock)
	})
}

func TestTryAcquireNamesTheJavaHolder(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		lock := lockPath(t)
		mutex := recipes.NewInterProcessMutex(w.connect(t, longSession), lock)
		holder := acquire(t, w.contender(t, inJava), lock)
		_, err := mutex.TryAcquire(patience(t))

		var refused *recipes.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.ErrorIs(t, err, recipes.ErrNotAcquired)
		require.Equal(t, 1, refused.Ahead)
		require.Equal(t, holder.node, fmt.Sprintf("%s/%s", lock, refused.Holder))
		require.NotNil(t, net.ParseIP(refused.Identity), "Curator's default data is an address, not %q", refused.Identity)
		w.waitNodes(t, lock, 1)

		require.NoError(t, holder.release())
		lease, err := mutex.TryAcquire(patience(t))
		require.NoError(t, err)
		require.NoError(t, lease.Release(patience(t)))
		w.nothingLeft(t, lock)
	})
}
