package locks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// thirdInLine begins an acquire behind a holder and another waiter. It returns
// the holder, the other waiter, and the client of the third.
func (w *world) thirdInLine(t *testing.T) (*locks.Lease, *locktest.Pending, *framework.Client) {
	t.Helper()
	var all []*framework.Client
	for _, name := range []string{"first", "second", "third"} {
		c, _ := w.Connect(t, framework.WithServiceName(name))
		all = append(all, c)
	}
	holder := hold(t, w.Patience(t), mutexAt(all[0]))
	second := take(w.Patience(t), mutexAt(all[1]))
	time.Sleep(2 * time.Second) // the holder watches its node by now
	w.Fake.ClearRequests()
	return holder, second, all[2]
}

// An error names the holder, however short its deadline is.
func TestErrorNamesTheHolderAfterAShortWait(t *testing.T) {
	for _, patience := range []time.Duration{time.Second, 201 * time.Millisecond, 200 * time.Millisecond, 50 * time.Millisecond} {
		t.Run(patience.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				holder, second, c := w.thirdInLine(t)
				_, err := mutexAt(c).Acquire(recipetest.Within(t, patience))
				refused := notAcquired(t, err)
				require.Equal(t, 2, refused.Ahead)
				require.Equal(t, "first", refused.Identity().Service)
				require.NoError(t, holder.Release(t.Context()))
				require.NoError(t, second.Wait(t).Release(t.Context()))
				w.NothingLeft(t, "/l")
			})
		})
	}
}
