//go:build real

package interop_test

import (
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHandOver(t *testing.T) {
	bothWays(t, func(t *testing.T, srv *testServer, holder, waiter language) {
		one, two := srv.contender(t, holder), srv.contender(t, waiter)
		for _, kind := range []kind{mutex, writing, semaphoreMutex} {
			lock := lockPath(t)
			first := acquire(t, one.withKind(kind), lock)
			second := srv.acquireBehind(t, two.withKind(kind), lock, kind)
			require.NoError(t, first.release())
			next := second.wait(t)
			require.Greater(t, next.token, first.token)
			require.Equal(t, []string{path.Base(next.node)}, srv.waitNodes(t, kind.nodes(lock), 1))
			require.NoError(t, next.release())
			srv.requireNothingLeft(t, kind.nodes(lock))
		}
	})
}

// The fencing tokens of both languages form one sequence, even across the
// deletion of the lock's path.
func TestTokensGrowAcrossLanguages(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		lock := lockPath(t)
		contenders := []contender{srv.contender(t, inGo), srv.contender(t, inJava)}
		var last int64
		for i := range 8 {
			g := acquire(t, contenders[i%2], lock)
			ok, stat, err := srv.observer.Exists(withDeadline(t), g.node)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, stat.Czxid, g.token)
			require.Greater(t, g.token, last)
			last = g.token
			require.NoError(t, g.release())
			if i%4 == 3 {
				srv.waitReaped(t, lock)
			}
		}
	})
}

// mixedQueue is a queue behind a holder. The languages of its contenders are
// the contenders of mixedContenders.
type mixedQueue struct {
	holder kind
	// queueDir is the directory in which a contender first appears, below the
	// path.
	queueDir string
	kinds    []kind
	// waves says how many are admitted at once after the wave before has left.
	waves []int
}

var mixedQueues = map[string]mixedQueue{
	"mutex": {
		mutex, "",
		[]kind{mutex, mutex, mutex, mutex, mutex, mutex, mutex, mutex, mutex},
		[]int{1, 1, 1, 1, 1, 1, 1, 1, 1},
	},
	"read-write": {
		writing, "",
		[]kind{reading, reading, writing, reading, writing, writing, reading, reading, reading},
		[]int{2, 1, 1, 1, 1, 3},
	},
	"semaphore": {
		leases(2, 2), "/locks",
		[]kind{
			leases(1, 2), leases(1, 2), leases(1, 2), leases(2, 2), leases(2, 2),
			leases(1, 2), leases(1, 2), leases(2, 2), leases(1, 2),
		},
		[]int{2, 1, 1, 1, 2, 1, 1},
	},
}

// mixedContenders returns contenders in both languages, and a client and a
// process for more. The contenders in Go have a client each, because only two
// contenders of a client have nodes for the same mutex.
func (srv *testServer) mixedContenders(t *testing.T) ([]contender, goContender, *peer) {
	ours := func() contender { return srv.contender(t, inGo) }
	java1, java2 := startPeer(t, srv.addr, longSession), startPeer(t, srv.addr, longSession)
	return []contender{
		javaContender{peer: java1, name: "a"},
		ours(),
		javaContender{peer: java2, name: "a"},
		ours(),
		ours(),
		javaContender{peer: java1, name: "b"},
		javaContender{peer: java1, name: "c"},
		ours(),
		javaContender{peer: java2, name: "b"},
	}, goContender{client: srv.connect(t, longSession)}, java2
}

// All contenders are admitted in the order of their nodes, together with all
// others that may hold the lock at the same time.
func TestMixedQueueIsAdmittedInOrderOfArrival(t *testing.T) {
	t.Parallel()
	for name, q := range mixedQueues {
		t.Run(name, func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, srv *testServer) { srv.admitsInOrder(t, q) })
		})
	}
}

func (srv *testServer) admitsInOrder(t *testing.T, q mixedQueue) {
	type admission struct {
		place int
		grant grant
		err   error
	}
	lock := lockPath(t)
	queue, c, java := srv.mixedContenders(t)
	holders := []grant{acquire(t, c.withKind(q.holder), lock)}
	ahead := 1
	if q.queueDir != "" {
		ahead = 0
	}
	srv.waitNodes(t, lock+q.queueDir, ahead)
	admitted := make(chan admission, len(queue))
	for i, c := range queue {
		go func() {
			// Others have to join first.
			g, err := c.withKind(q.kinds[i]).acquire(lock, 2*waitLimit)
			admitted <- admission{i, g, err}
		}()
		// The next one comes when this one is in the queue.
		srv.waitNodes(t, lock+q.queueDir, ahead+i+1)
	}
	if q.queueDir != "" {
		// The first contender in the queue asks for its first lease.
		srv.waitNodes(t, q.holder.nodes(lock), 3)
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
			require.True(t, first <= next.place && next.place < first+n,
				"place %d is admitted, with %d from %d", next.place, n, first)
			if q.queueDir == "" {
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
	srv.requireNothingLeft(t, q.holder.nodes(lock))
}

// participantsOfBoth requires that both languages see the same participants,
// and that ours marks the right holder. Exactly one contender holds the lock.
// It returns the participants' nodes in the order of the queue.
func participantsOfBoth(t *testing.T, c goContender, java *peer, lock string, q mixedQueue) []string {
	t.Helper()
	ours, err := c.participants(withDeadline(t), lock, q.holder)
	require.NoError(t, err)
	var nodes, readers []string
	for i, p := range ours {
		nodes = append(nodes, p.Path)
		if p.Reader {
			readers = append(readers, p.Path)
		}
		require.Equal(t, i, p.Position)
		holders := 1
		if path.Dir(p.Path) != lock { // of a semaphore
			holders = 2
		}
		require.Equal(t, i < holders, p.Holder, "participant %d", i)
	}
	theirs := java.must(t, "participants", lock, q.holder)
	if q.holder == writing {
		require.NotEmpty(t, readers)
		require.ElementsMatch(t, readers, java.must(t, "participants", lock, reading))
		theirs = append(theirs, readers...)
	}
	// Java returns a semaphore's nodes without their path.
	for i, node := range theirs {
		theirs[i] = path.Join(q.holder.nodes(lock), path.Base(node))
	}
	require.ElementsMatch(t, nodes, theirs)
	if q.holder == mutex {
		require.Equal(t, nodes, theirs, "Java's are in order, too")
	}
	return nodes
}
