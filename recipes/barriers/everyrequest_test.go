package barriers_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// A fault hits one request of a round, whichever it is and whoever makes it:
// two members enter and leave one after the other, and then a third member
// comes and gives up. The barrier opens for two. Each of them passes and leaves
// unless its session is lost, and nothing is left behind.
func TestFaultAtEveryRequestOfARound(t *testing.T) {
	for node, path := range map[string]string{"barrier": "/d/*", "member": "/d/b/*"} {
		for _, fault := range recipetest.ConnectionFaults {
			t.Run(node+"/"+fault.Name, func(t *testing.T) {
				recipetest.EachRequest(t, 7, func(t *testing.T, i int) (hit bool) {
					inVirtualTime(t, func(t *testing.T, w *world) { hit = w.faultAt(t, path, fault, i) })
					return hit
				})
			})
		}
	}
}

// faultAt lets a round run into a fault at its i-th request for a path. It
// reports whether there was such a request.
func (w *world) faultAt(t *testing.T, path string, fault recipetest.RequestFault, i int) (hit bool) {
	require.NoError(t, w.Fake.Create("/d", nil))
	check := newChecker(t, w.Fake, "/d/b", 2)
	clients := w.clients(t, 3)
	injected := w.Fake.Inject(zktest.Rule{Path: path, After: i, Do: fault.On(w.Fake)})
	var members sync.WaitGroup
	for _, c := range clients[:2] {
		members.Go(func() { w.passOnce(t, check, c) })
		settle()
	}
	members.Wait()
	require.Positive(t, check.seen)
	w.giveUp(t, clients[2], check)
	time.Sleep(90 * time.Second)
	w.NothingLeft(t, "/d/b")
	return injected.Hits() > 0
}

// passOnce enters, stays for a while, and leaves. If a session was lost while
// it was inside, it does that again: so does the other member.
func (w *world) passOnce(t *testing.T, check *checker, c *framework.Client) {
	for {
		p, err := check.enter(w.Patience(t), barriers.NewDoubleBarrier(c, check.path, check.n))
		if err != nil {
			t.Errorf("enter: %v", err)
			return
		}
		whole := true
		select {
		case <-p.Context().Done():
			whole = false
		case <-time.After(time.Minute): // so that losses are noticed
		}
		err = check.leave(w.Patience(t), p)
		if err != nil && !errors.Is(err, framework.ErrSessionLost) {
			t.Errorf("leave: %v", err)
		}
		if whole {
			return
		}
	}
}

// giveUp enters, and gives up.
func (w *world) giveUp(t *testing.T, c *framework.Client, check *checker) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := check.enter(ctx, barriers.NewDoubleBarrier(c, check.path, check.n))
	require.ErrorIs(t, err, barriers.ErrNotEntered)
}

// A member gives up at each of its requests: its context ends before the
// request, after it, or while it is under way. It leaves nothing behind, and
// two others enter and leave then.
func TestEnterThatIsGivenUpAtEveryRequest(t *testing.T) {
	for layout, opts := range layouts {
		for name, at := range map[string]func(cancel func(zktest.Request)) zktest.Action{
			"before": zktest.Call,
			"after":  zktest.CallAfter,
			"before, and the request is late": func(cancel func(zktest.Request)) zktest.Action {
				return zktest.All(zktest.Call(cancel), zktest.DelayRequest(30*time.Second))
			},
			"before, and the answer is lost": func(cancel func(zktest.Request)) zktest.Action {
				return zktest.All(zktest.Call(cancel), zktest.DropReply())
			},
		} {
			t.Run(layout+"/"+name, func(t *testing.T) {
				recipetest.EachRequest(t, 2, func(t *testing.T, i int) (hit bool) {
					inVirtualTime(t, func(t *testing.T, w *world) {
						clients := w.clients(t, 3)
						ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
						defer cancel()
						fault := w.Fake.Inject(zktest.Rule{Session: clients[0].SessionID(), After: i, Do: at(func(zktest.Request) {
							cancel()
							time.Sleep(time.Millisecond) // so that it knows
						})})
						_, err := barriers.NewDoubleBarrier(clients[0], "/b", 2, opts...).Enter(ctx)
						require.ErrorIs(t, err, ctx.Err())
						require.ErrorIs(t, err, barriers.ErrNotEntered)
						hit = fault.Hits() > 0
						time.Sleep(time.Minute)
						w.NothingLeft(t, "/b")
						w.leaveAll(t, w.enterAll(t, "/b", clients[1:], opts...))
						w.NothingLeft(t, "/b")
					})
					return hit
				})
			})
		}
	}
}
