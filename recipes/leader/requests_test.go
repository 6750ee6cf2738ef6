package leader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

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
