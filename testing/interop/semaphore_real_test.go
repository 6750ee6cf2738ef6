//go:build real

package interop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
)

// Either language raises the limit while either language waits.
func TestSharedLimitIsRaised(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		java, ours := startPeer(t, srv.addr, longSession), goContender{client: srv.connect(t, longSession)}
		contenders := map[language]contender{inGo: ours, inJava: javaContender{peer: java, name: "thread"}}
		raise := map[language]func(limit string){
			inGo: func(limit string) {
				require.NoError(t, locks.SetSharedLimit(withDeadline(t), ours.client, limit, 2))
			},
			inJava: func(limit string) { java.must(t, "count-set", limit, 2, 1) },
		}
		for _, roles := range [][3]language{
			{inGo, inJava, inGo}, {inGo, inJava, inJava}, {inJava, inGo, inGo}, {inJava, inGo, inJava},
		} {
			path := lockPath(t)
			if roles[0] == inJava {
				// A holder in Go needs no such call, since it begins with the
				// limit 1 by itself.
				java.must(t, "count-set", limitOf(path), 1)
			}
			holder := acquire(t, contenders[roles[0]].withKind(sharedLease), path)
			waiter := srv.acquireBehind(t, contenders[roles[1]].withKind(sharedLease), path, sharedLease)
			raise[roles[2]](limitOf(path))
			require.NoError(t, waiter.wait(t).release())
			require.NoError(t, holder.release())
			srv.requireNothingLeft(t, path+"/leases")
		}
	})
}

// Java takes several leases one by one, and queues again for each. So it may
// have one of them and wait for the other behind a contender that waits for the
// first, until its time is over. Our semaphore takes all leases in one turn.
func TestJavaWaitsInTheMiddleOfSeveralLeases(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		path := lockPath(t)
		java, ours := srv.contender(t, inJava).withKind(leases(2, 2)), srv.contender(t, inGo)
		require.NoError(t, acquire(t, java, path+"-warm-up").release(), "a JVM's first acquire is slow")
		one := acquire(t, ours.withKind(leases(1, 2)), path)
		two := acquire(t, ours.withKind(leases(1, 2)), path)
		srv.waitNodes(t, path+"/locks", 0)
		theirs := acquireLater(java, path, 6*time.Second)
		srv.waitNodes(t, path+"/leases", 3)
		next := acquireLater(ours.withKind(leases(2, 2)), path, waitLimit)
		srv.waitNodes(t, path+"/locks", 2)

		require.NoError(t, one.release())
		require.NoError(t, two.release())
		require.Never(t, next.over, 300*time.Millisecond, 10*time.Millisecond)
		<-theirs.done
		require.ErrorIs(t, theirs.err, errTimeout)
		require.NoError(t, next.wait(t).release())
		require.NoError(t, acquire(t, java, path).release())
		srv.requireNothingLeft(t, path+"/leases")
		srv.requireNothingLeft(t, path+"/locks")
	})
}
