package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// The loss of a member is noticed, also if members arrive all the time.
func TestLossAmongArrivals(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 3)
		inside := w.enterAll(t, "/b", clients[:2])
		settle()
		arrive := enterLater(recipetest.Within(t, time.Minute), barriers.NewDoubleBarrier(clients[2], "/b", 2))
		require.NoError(t, w.Fake.Delete("/b/"+inside[0].Name()))
		begun := time.Now()
		<-inside[1].Context().Done()
		require.ErrorIs(t, context.Cause(inside[1].Context()), barriers.ErrMemberLost)
		require.Less(t, time.Since(begun), time.Second)
		w.leaveAll(t, inside[1:])
		<-arrive.done
	})
}

// Others change what a member looks at, time and again: somebody writes the barrier's
// node just before each opening, or makes the node of an opening as soon as it is
// deleted that is of no round. The member looks again at once the first time, and
// after pauses then.
func TestMemberThatIsBeatenTimeAndAgainPauses(t *testing.T) {
	for name, tc := range map[string]struct {
		opts  []barriers.Option
		beats func(w *world) zktest.Rule
	}{
		"rounds": {nil, func(*world) zktest.Rule {
			return zktest.Rule{Op: zktest.OpMulti, Do: zktest.Fail(zktest.ErrBadVersion)}
		}},
		"ready": {[]barriers.Option{barriers.WithCuratorLayout()}, func(w *world) zktest.Rule {
			require.NoError(t, w.Fake.Create("/b", nil))
			require.NoError(t, w.Fake.Create("/b/ready", nil))
			return zktest.Rule{Op: zktest.OpDelete, Path: "/b/ready", Do: zktest.CallAfter(func(zktest.Request) {
				_ = w.Fake.Create("/b/ready", nil)
			})}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				rule := tc.beats(w)
				rule.Times = 1000
				beats := w.Fake.Inject(rule)
				time.AfterFunc(30*time.Second, beats.Remove)
				p, err := barriers.NewDoubleBarrier(c, "/b", 1, tc.opts...).Enter(w.Patience(t))
				require.NoError(t, err)
				require.Greater(t, beats.Hits(), 5)
				require.Less(t, beats.Hits(), 50)
				require.NoError(t, p.Leave(w.Patience(t)))
			})
		})
	}
}
