package shared_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// A write uses up the watch of its Value, which a read sets again. No Set waits for
// that read, and Sets at the same time share it.
func TestOwnChangeIsReadBehindTheSet(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const roundTrip = 10 * time.Millisecond
		c, _ := w.Connect(t)
		n := w.count(t, c, "/n", 0)
		settle()
		w.Fake.Inject(zktest.Rule{Times: -1, Do: zktest.DelayReply(roundTrip)})
		w.Fake.ClearRequests()
		begun := time.Now()
		require.NoError(t, n.Set(t.Context(), 1))
		require.Equal(t, roundTrip, time.Since(begun))
		require.Equal(t, int32(1), get(t, n).Value)
		settle()
		require.Equal(t, []zktest.Op{zktest.OpMulti, zktest.OpGetData}, w.requests(c.SessionID()))

		w.Fake.ClearRequests()
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { assert.NoError(t, n.Set(t.Context(), int32(i))) })
		}
		all.Wait()
		settle()
		require.Equal(t, 100, w.Fake.CountRequests(zktest.OpMulti))
		require.LessOrEqual(t, w.Fake.CountRequests(zktest.OpGetData), 3)
	})
}
