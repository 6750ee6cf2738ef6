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
		one, two := w.contender(t, holder), w.contender(t, waiter)
		for _, kind := range []kind{mutex, writing, semaphoreMutex} {
			lock := lockPath(t)
			first := acquire(t, one.as(kind), lock)
			second := acquireLater(two.as(kind), lock, tooLong)
			w.waitNodes(t, kind.nodes(lock), 2)
			require.Never(t, second.over, 100*time.Millisecond, 10*time.Millisecond)

			require.NoError(t, first.release())
			next := second.wait(t)
			require.Greater(t, next.token, first.token)
			require.Equal(t, []string{path.Base(next.node)}, w.waitNodes(t, kind.nodes(lock), 1))
			require.NoError(t, next.release())
			w.nothingLeft(t, kind.nodes(lock))
		}
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

// mixedQueue is a queue behind a holder. The languages of its places are those of world.mixed.
type mixedQueue struct {
	holder kind
	gate   string // below the path: where a contender is first seen
	kinds  []kind
	waves  []int // how many are admitted at once, when the wave before has left
}

var mixedQueues = map[string]mixedQueue{
	"mutex": {
		mutex, "", []kind{mutex, mutex, mutex, mutex, mutex, mutex, mutex, mutex, mutex}, []int{1, 1, 1, 1, 1, 1, 1, 1, 1},
	},
	"read-write": {
		writing, "",
		[]kind{reading, reading, writing, reading, writing, writing, reading, reading, reading},
		[]int{2, 1, 1, 1, 1, 3},
	},
	"semaphore": {
		leases(2, 2), "/locks",
		[]kind{leases(1, 2), leases(1, 2), leases(1, 2), leases(2, 2), leases(2, 2), leases(1, 2), leases(1, 2), leases(2, 2), leases(1, 2)},
		[]int{2, 1, 1, 1, 2, 1, 1},
	},
}

// mixed returns contenders in both languages, and a client and a process for more. Those in Go have a client each: of all
// who want a mutex with the same one, only two are at the server.
func (w *world) mixed(t *testing.T) ([]contender, goContender, *peer) {
	ours := func() contender { return w.contender(t, inGo) }
	java1, java2 := startPeer(t, w.addr, longSession), startPeer(t, w.addr, longSession)
	return []contender{
		javaContender{peer: java1, name: "a"}, ours(), javaContender{peer: java2, name: "a"}, ours(), ours(),
		javaContender{peer: java1, name: "b"}, javaContender{peer: java1, name: "c"}, ours(), javaContender{peer: java2, name: "b"},
	}, goContender{client: w.connect(t, longSession)}, java2
}

// Everybody is admitted in the order in which the nodes were made, together with all who may hold the lock at once.
func TestMixedQueueIsAdmittedInOrderOfArrival(t *testing.T) {
	for name, q := range mixedQueues {
		t.Run(name, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w *world) { w.admitsInOrder(t, q) })
		})
	}
}

func (w *world) admitsInOrder(t *testing.T, q mixedQueue) {
	type admission struct {
		place int
		grant grant
		err   error
	}
	lock := lockPath(t)
	queue, c, java := w.mixed(t)
	holders := []grant{acquire(t, c.as(q.holder), lock)}
	ahead := 1
	if q.gate != "" {
		ahead = 0
	}
	w.waitNodes(t, lock+q.gate, ahead)
	admitted := make(chan admission, len(queue))
	for i, c := range queue {
		go func() {
			g, err := c.as(q.kinds[i]).acquire(lock, 2*tooLong) // others have to join first
			admitted <- admission{i, g, err}
		}()
		w.waitNodes(t, lock+q.gate, ahead+i+1) // the next one comes when this one is in the queue
	}
	if q.gate != "" {
		w.waitNodes(t, q.holder.nodes(lock), 3) // the first in the queue asks for its first lease
	}
	nodes := participantsOfBoth(t, c, java, lock, q)

	first := 0
	for _, n := range q.waves {
		for _, g := range holders {
			require.NoError(t, g.release())
		}
		holders = nil
		for range n {
			next := <-admitted
			require.NoError(t, next.err)
			require.True(t, first <= next.place && next.place < first+n, "place %d is admitted, with %d from %d", next.place, n, first)
			if q.gate == "" {
				require.Equal(t, nodes[next.place+1], next.grant.node)
			}
			holders = append(holders, next.grant)
		}
		require.Never(t, func() bool { return len(admitted) > 0 }, 50*time.Millisecond, 10*time.Millisecond)
		first += n
	}
	require.Equal(t, len(queue), first)
	for _, g := range holders {
		require.NoError(t, g.release())
	}
	w.nothingLeft(t, q.holder.nodes(lock))
}

// participantsOfBoth requires that both languages see the same participants, and that ours says rightly who holds the
// lock: one contender does. It returns their nodes in the order of the queue.
func participantsOfBoth(t *testing.T, c goContender, java *peer, lock string, q mixedQueue) []string {
	t.Helper()
	ours, err := c.participants(patience(t), lock, q.holder)
	require.NoError(t, err)
	var nodes, readers []string
	for i, p := range ours {
		nodes = append(nodes, p.Path)
		if p.Shared {
			readers = append(readers, p.Path)
		}
		require.Equal(t, i, p.Position)
		require.Equal(t, path.Dir(p.Path) == lock && i == 0 || path.Dir(p.Path) != lock && i < 2, p.Holder, "participant %d", i)
	}
	theirs := java.must(t, "participants", lock, q.holder)
	if q.holder == writing {
		require.NotEmpty(t, readers)
		require.ElementsMatch(t, readers, java.must(t, "participants", lock, reading))
		theirs = append(theirs, readers...)
	}
	for i, node := range theirs { // Java gives a semaphore's without the path
		theirs[i] = path.Join(q.holder.nodes(lock), path.Base(node))
	}
	require.ElementsMatch(t, nodes, theirs)
	if q.holder == mutex {
		require.Equal(t, nodes, theirs, "Java's are in order, too")
	}
	return nodes
}

// A waiter that gives up leaves nothing, and lets nobody in: those behind it now watch the holder, in the other language.
func TestWaiterThatGivesUpDoesNotDisturbTheQueue(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world, one, other language) {
		first, leaver, last := w.contender(t, one), w.contender(t, other), w.contender(t, one)
		for _, c := range []contender{leaver, last} {
			require.NoError(t, acquire(t, c, lockPath(t)).release(), "a JVM's first acquire is slow")
		}
		lock, holder, leaving, waiting := w.queueWithALeaver(t, first, leaver, last)

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

// queueWithALeaver has two queue behind a holder, the first of them for a time that is long enough for the last to arrive.
func (w *world) queueWithALeaver(t *testing.T, first, leaver, last contender) (lock string, holder grant, leaving, waiting *pending) {
	t.Helper()
	for wait := 1500 * time.Millisecond; wait < tooLong; wait *= 2 {
		lock, waiting = lockPath(t), nil
		holder = acquire(t, first, lock)
		leaving = acquireLater(leaver, lock, wait)
		there, gone := context.WithCancel(patience(t))
		go func() {
			defer gone()
			<-leaving.done
		}()
		if _, err := w.awaitNodes(there, lock, 2); err == nil {
			waiting = acquireLater(last, lock, tooLong)
			if _, err = w.awaitNodes(there, lock, 3); err == nil {
				return lock, holder, leaving, waiting
			}
		}
		<-leaving.done
		require.NoError(t, holder.release())
		if waiting != nil {
			require.NoError(t, waiting.wait(t).release())
		}
	}
	require.Fail(t, "the waiter always gives up before the last has arrived")
	return lock, holder, leaving, waiting
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
		require.NotNil(t, net.ParseIP(refused.Identity.Foreign), "Curator's default data is an address, not %q", refused.Identity)
		w.waitNodes(t, lock, 1)

		require.NoError(t, holder.release())
		lease, err := mutex.TryAcquire(patience(t))
		require.NoError(t, err)
		require.NoError(t, lease.Release(patience(t)))
		w.nothingLeft(t, lock)
	})
}
