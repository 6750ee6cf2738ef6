package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// A Leave that has given up says the same when it is called again.
func TestSecondLeaveReturnsTheSame(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.enterAll(t, "/b", w.clients(t, 2))
		settle()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := p[0].Leave(ctx)
		require.ErrorContains(t, first, "leave /b: other members have not left: ")
		require.ErrorIs(t, first, barriers.ErrNotLeft)
		require.ErrorIs(t, first, context.DeadlineExceeded)
		settle()
		require.Equal(t, first, p[0].Leave(ctx))
		require.Equal(t, first, p[0].Leave(w.Patience(t)))
	})
}

// leaves counts the Leaves that hooks receive.
type leaves struct{ told []error }

func (l *leaves) BarrierWaited(w barriers.Waited) {
	if w.Op == "leave" {
		l.told = append(l.told, w.Err)
	}
}

// Hooks receive the Leave of a member once, even if the context of Leave has ended, and
// Leave is called again and again: when the member is out, and when the member has
// given up without a connection.
func TestHooksReceiveOneLeave(t *testing.T) {
	for name, end := range map[string]func(*world, *barriers.Passage, *recipetest.Network, *framework.Client){
		"the session is lost": func(w *world, p *barriers.Passage, _ *recipetest.Network, c *framework.Client) {
			w.Fake.Session(c.SessionID()).Expire()
			<-p.Context().Done()
		},
		"there is no connection": func(_ *world, _ *barriers.Passage, n *recipetest.Network, _ *framework.Client) {
			n.Refuse(true)
			n.Cut()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				var hooks leaves
				c, network := w.Connect(t, framework.WithHooks(&hooks))
				p := w.enterAll(t, "/b", []*framework.Client{c, w.Observer})
				settle()
				end(w, p[0], network, c)
				settle()
				over, cancel := context.WithCancel(t.Context())
				cancel()
				first := p[0].Leave(over)
				require.Error(t, first)
				for range 3 {
					require.Equal(t, first, p[0].Leave(over))
				}
				require.Len(t, hooks.told, 1)
				require.Equal(t, first, hooks.told[0])
				network.Refuse(false)
				w.leaveAll(t, p[1:])
			})
		})
	}
}

// An operator deletes the whole barrier. A Leave begins, and another member comes before
// the Leave returns.
//
// Promise: Leave does not wait for a member of a barrier that was deleted and made again.
func TestLeaveOfABarrierThatWasDeleted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		p := w.enterAll(t, "/b", []*framework.Client{c})[0]
		for _, path := range []string{"/b/ready", "/b/" + p.Name(), "/b"} {
			require.NoError(t, w.Fake.Delete(path))
		}
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Session: c.SessionID(), Do: zktest.Call(func(zktest.Request) {
			_ = w.Fake.Create("/b", nil)
			_ = w.Fake.Create("/b/0", nil)
		})})
		require.NoError(t, p.Leave(recipetest.Within(t, time.Minute)))
	})
}
