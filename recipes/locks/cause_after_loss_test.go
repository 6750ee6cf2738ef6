package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// An acquire loses a part of what it has, and gives the rest back before it
// begins again. Its context ends meanwhile. The error says that, and does not say
// that the acquire has lost something.
func TestAcquireThatBeginsAgainEndsWithTheCallersCause(t *testing.T) {
	for name, of := range map[string]struct {
		rival func(c *framework.Client) acquireFunc
		taker func(c *framework.Client) acquireFunc
		first string // the path of what the taker has first
	}{
		"semaphore": {
			rival: semaphoreOf("", 1, locks.Limit(2), 1).rival,
			taker: semaphoreOf("", 2, locks.Limit(2), 2).rival,
			first: "/l/locks",
		},
		"multi-lock": {
			rival: func(c *framework.Client) acquireFunc { return of(locks.NewInterProcessMutex(c, "/l/c")) },
			taker: multiOf,
			first: "/l/a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				rival, _ := w.Connect(t)
				c, _ := w.Connect(t)
				holder := must(of.rival(rival)(t.Context()))(t)
				ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errMaintenance)
				defer cancel()
				time.AfterFunc(5*time.Second, func() {
					w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Session: c.SessionID(), Do: zktest.DelayReply(6 * time.Second)})
					for _, node := range w.Nodes(t, of.first) {
						w.Fake.Delete(of.first + "/" + node)
					}
				})
				_, err := of.taker(c)(ctx)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, errMaintenance)
				require.NotErrorIs(t, err, locks.ErrNodeDeleted)
				require.NoError(t, holder.Release(t.Context()))
			})
		})
	}
}
