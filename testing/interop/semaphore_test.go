package interop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
)

// The limit is raised by either language while either waits.
func TestSharedLimitIsRaised(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		java, ours := startPeer(t, w.addr, longSession), goContender{client: w.connect(t, longSession)}
		contenders := map[language]contender{inGo: ours, inJava: javaContender{peer: java, name: "thread"}}
		raise := map[language]func(limit string){
			inGo:   func(limit string) { require.NoError(t, recipes.SetSharedLimit(patience(t), ours.client, limit, 2)) },
			inJava: func(limit string) { java.must(t, "count-set", limit, 2, 1) },
		}
		for _, roles := range [][3]language{
			{inGo, inJava, inGo}, {inGo, inJava, inJava}, {inJava, inGo, inGo}, {inJava, inGo, inJava},
		} {
			path := lockPath(t)
			if roles[0] == inJava {
				java.must(t, "count-set", limitOf(path), 1) // ours begins with 1 by itself
			}
			holder := acquire(t, contenders[roles[0]].as(sharedLease), path)
			waiter := w.acquireBehind(t, contenders[roles[1]].as(sharedLease), path, sharedLease)
			raise[roles[2]](limitOf(path))
			require.NoError(t, waiter.wait(t).release())
			require.NoError(t, holder.release())
			w.nothingLeft(t, path+"/leases")
		}
	})
}

// Java takes several leases one by one, and queues again for each. So it may have one of them, and wait for the other
// behind somebody who waits for that one, until its time is up. Ours takes all of its leases when it is its turn.
func TestJavaWaitsInTheMiddleOfSeveralLeases(t *testing.T) {
	t.Parallel()
	inBothWorlds(t, func(t *testing.T, w *world) {
		path := lockPath(t)
		java, ours := w.contender(t, inJava).as(leases(2, 2)), w.contender(t, inGo)
		require.NoError(t, acquire(t, java, path+"-warm-up").release(), "a JVM's first acquire is slow")
		one, two := acquire(t, ours.as(leases(1, 2)), path), acquire(t, ours.as(leases(1, 2)), path)
		w.waitNodes(t, path+"/locks", 0)
		theirs := acquireLater(java, path, 6*time.Second)
		w.waitNodes(t, path+"/leases", 3)
		next := acquireLater(ours.as(leases(2, 2)), path, tooLong)
		w.waitNodes(t, path+"/locks", 2)

		require.NoError(t, one.release())
		require.NoError(t, two.release())
		require.Never(t, next.over, 300*time.Millisecond, 10*time.Millisecond)
		<-theirs.done
		require.ErrorIs(t, theirs.err, errTimeout)
		require.NoError(t, next.wait(t).release())
		require.NoError(t, acquire(t, java, path).release())
		w.nothingLeft(t, path+"/leases")
		w.nothingLeft(t, path+"/locks")
	})
}
