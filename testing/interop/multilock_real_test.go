//go:build real

package interop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Our multi-lock waits for the mutex that Java holds, and Java then waits for
// each of the mutexes that we hold.
func TestMultiLockAmongJavasMutexes(t *testing.T) { amongJavasMutexes(t, multi) }

func amongJavasMutexes(t *testing.T, ours kind) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		one := lockPath(t)
		two := one + "-too"
		first := srv.contender(t, inJava)
		second := sibling(first)
		theirs := acquire(t, second, two)
		both := acquireLater(srv.contender(t, inGo).withKind(ours), one, waitLimit)
		srv.waitNodes(t, two, 2)
		srv.waitNodes(t, one, 1) // it has the first
		waiter := srv.acquireBehind(t, first, one, mutex)

		require.NoError(t, theirs.release())
		got := both.wait(t)
		_, err := second.acquire(two, 200*time.Millisecond)
		require.ErrorIs(t, err, errTimeout)
		require.False(t, waiter.over())
		require.NoError(t, got.release())
		require.NoError(t, waiter.wait(t).release())
		require.NoError(t, acquire(t, second, two).release())
		srv.requireNothingLeft(t, one)
		srv.requireNothingLeft(t, two)
	})
}
