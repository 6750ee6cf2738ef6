package nodes

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// A touch is answered in the very moment in which the time to live is over. What
// the timer calls comes behind that. The node was touched, and is not lost.
func TestTimerThatATouchHasOvertakenTellsOfNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		n, err := NewPersistentNode(curatortest.Connect(t, srv), "/a", nil, WithTTL(time.Minute))
		require.NoError(t, err)
		synctest.Wait()
		srv.Inject(zktest.Rule{Op: zktest.OpSetData, Path: "/a/touch", Times: -1, Do: zktest.DelayRequest(time.Hour)})
		n.mu.Lock()
		until := n.until
		n.mu.Unlock()
		time.Sleep(until.Sub(n.clock()) - time.Nanosecond)

		n.mu.Lock()
		time.Sleep(time.Nanosecond)
		n.until = until.Add(time.Minute) // as the touch does
		n.mu.Unlock()
		synctest.Wait()
		told := n.last
		_, there := n.Registration()
		require.True(t, there)

		n.mu.Lock()
		n.until = until
		n.mu.Unlock()
		_, there = n.Registration()
		require.False(t, there, "it was the moment")
		n.notePast()
		require.ErrorIs(t, told.Next().Value.Err, ErrNotTouched, "the first that is told")
		require.NoError(t, n.Shutdown(t.Context()))
	})
}
