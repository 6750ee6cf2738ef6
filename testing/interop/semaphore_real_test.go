//go:build real

package interop_test

import (
	"testing"

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
