package leader_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// creations returns when clients asked the server to create nodes, as times
// since the start.
func (w *world) creations(start time.Time) []time.Duration {
	var at []time.Duration
	for _, r := range w.Fake.Requests() {
		if r.Op == zktest.OpCreate {
			at = append(at, r.Time.Sub(start))
		}
	}
	return at
}

// A candidacy sends requests less and less often while servers fail. After the
// candidate has queued again, the pauses start from the shortest.
func TestCandidacyPausesLongerAndLonger(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t, framework.WithRetry(retry.None()))
		l := latch(t, c, "/l")
		lease := w.await(t, l)
		for range 2 {
			w.Fake.ClearRequests()
			// The trouble ends after a number of requests. So a latch that does
			// not pause at all fails this test, and does not run for ever.
			trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 100, Do: zktest.Fail(zkinside.ErrSystem)})
			start := time.Now()
			require.NoError(t, lease.Release(t.Context()))
			time.Sleep(100 * time.Second)
			want := []time.Duration{0, 1, 3, 7, 15, 31, 61, 91}
			for i := range want {
				want[i] *= time.Second
			}
			require.Equal(t, want, w.creations(start))
			trouble.Remove()
			lease = w.await(t, l)
		}
		w.closeAll(t, "/l", l)
	})
}
