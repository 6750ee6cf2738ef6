package leader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A candidate that is next takes over on the event of the leader's deletion, and
// goes on with the watch on its own node.
func TestNextCandidateTakesOverWithoutALook(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first, second, lease, _ := w.leaderAndNext(t, "/l")
		time.Sleep(time.Second)
		for range 2 {
			w.Fake.ClearRequests()
			require.NoError(t, lease.Release(t.Context()))
			lease = w.await(t, second)
			synctest.Wait()
			require.Equal(t, []zktest.Op{
				zktest.OpDelete, // and nothing else for the hand-over: this is the first, which stands again
				zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetData, zktest.OpGetData,
			}, w.Requests())
			time.Sleep(time.Minute)
			first, second = second, first
		}
		w.closeAll(t, "/l", first, second)
	})
}

// So does one on the leader's own client, whose release is answered.
func TestNextCandidateOfTheSameClientTakesOverWithoutALook(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		first := latch(t, c, "/l")
		w.await(t, first)
		second := latch(t, c, "/l")
		time.Sleep(time.Second)
		w.Fake.ClearRequests()
		require.NoError(t, first.Shutdown(t.Context()))
		w.await(t, second)
		time.Sleep(time.Minute)
		require.Equal(t, []zktest.Op{zktest.OpDelete}, w.Requests())
		w.closeAll(t, "/l", second)
	})
}

// A leader that closes, and one that hands over. The list is the look for a
// successor.
func TestRequestsOfAHandOver(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(l *leader.Latch, lease *locks.Lease) error
		want []zktest.Op
	}{
		"shutdown": {
			func(l *leader.Latch, _ *locks.Lease) error { return l.Shutdown(context.Background()) },
			[]zktest.Op{zktest.OpDelete},
		},
		"hand over": {
			func(l *leader.Latch, lease *locks.Lease) error {
				go releaseWhenAsked(lease)
				return l.HandOver(context.Background())
			},
			[]zktest.Op{
				zktest.OpGetChildren2, zktest.OpDelete,
				zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetData, zktest.OpGetData,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				first, second, lease, _ := w.leaderAndNext(t, "/l")
				time.Sleep(time.Second)
				w.Fake.ClearRequests()
				require.NoError(t, tc.end(first, lease))
				w.await(t, second)
				synctest.Wait()
				require.Equal(t, tc.want, w.Requests())
				w.closeAll(t, "/l", first, second)
			})
		})
	}
}

// A HandOver takes two round trips, and the next leads by then. Nobody waits for
// the four requests by which the leader stands again.
func TestRoundTripsOfAHandOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first, second, lease, _ := w.leaderAndNext(t, "/l")
		time.Sleep(time.Second)
		const roundTrip = time.Millisecond
		delayed := w.Fake.Inject(zktest.Rule{Times: -1, Do: zktest.DelayRequest(roundTrip)})
		w.Fake.ClearRequests()
		begun := time.Now()
		go releaseWhenAsked(lease)
		require.NoError(t, first.HandOver(t.Context()))
		w.await(t, second)
		require.Equal(t, 2*roundTrip, time.Since(begun))
		time.Sleep(time.Second)
		require.Len(t, w.Requests(), 6)
		delayed.Remove()
		w.closeAll(t, "/l", first, second)
	})
}

func TestNextSelectorTakesOverWithoutALook(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		leading := make(chan struct{}, 2)
		done := make(chan error, 2)
		run := func(c *framework.Client, d time.Duration) {
			done <- leader.NewSelector(c, "/l").Run(t.Context(), func(context.Context) error {
				leading <- struct{}{}
				time.Sleep(d)
				return nil
			})
		}
		one, _ := w.Connect(t)
		two, _ := w.Connect(t)
		go run(one, time.Minute)
		<-leading
		go run(two, time.Second)
		time.Sleep(time.Second)
		w.Fake.ClearRequests()
		require.NoError(t, <-done)
		<-leading
		require.NoError(t, <-done)
		require.Equal(t, []zktest.Op{zktest.OpDelete, zktest.OpDelete}, w.Requests())
		w.NothingLeft(t, "/l")
	})
}
