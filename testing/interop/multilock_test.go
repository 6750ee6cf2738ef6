package interop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Our lock of several waits for whichever of them Java has, and Java then waits for each of ours.
func TestMultiLockAmongJavasMutexes(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		one := lockPath(t)
		two := one + "-too"
		first := w.contender(t, inJava)
		second := colleague(first)
		theirs := acquire(t, second, two)
		both := acquireLater(w.contender(t, inGo).as(multi), one, tooLong)
		w.waitNodes(t, two, 2)
		w.waitNodes(t, one, 1) // it has the first
		waiter := w.acquireBehind(t, first, one, mutex)

		require.NoError(t, theirs.release())
		ours := both.wait(t)
		_, err := second.acquire(two, 200*time.Millisecond)
		require.ErrorIs(t, err, errTimeout)
		require.False(t, waiter.over())
		require.NoError(t, ours.release())
		require.NoError(t, waiter.wait(t).release())
		require.NoError(t, acquire(t, second, two).release())
		w.nothingLeft(t, one)
		w.nothingLeft(t, two)
	})
}
