package discovery_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/testing/zktest"
)

// An Update gives up before its data is written, or before it is known that it was.
// When the node is known to have the data, the instance has moved: a node at the
// address that it has left is another instance's.
//
// Promise: A permanent instance that moved after its update has left its old address.
func TestPermanentInstanceThatHasMovedLateIsElsewhere(t *testing.T) {
	for name, late := range map[string]zktest.Action{
		"lost reply":   zktest.DropReply(),
		"late request": zktest.DelayRequest(2 * time.Second),
		"late reply":   zktest.DelayReply(2 * time.Second),
	} {
		for where, test := range map[string]struct {
			port  int
			taken bool
		}{
			"where it was": {port: 1, taken: false},
			"where it is":  {port: 2, taken: true},
		} {
			t.Run(name+", "+where, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					c, network := w.Connect(t)
					r := w.registered(t, c, permanent(1))
					synctest.Wait()
					w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Do: late})
					require.ErrorIs(t, r.Update(recipetest.Within(t, time.Millisecond), permanent(2)), context.DeadlineExceeded)
					time.Sleep(time.Minute)
					_, there := r.Node().Registration()
					require.True(t, there)

					network.Refuse(true)
					network.Cut()
					synctest.Wait()
					require.NoError(t, w.Fake.Delete(base+"/orders/a"))
					require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, permanent(test.port))))
					network.Refuse(false)
					require.NoError(t, c.WaitConnected(w.Patience(t)))
					time.Sleep(time.Minute)
					_, there = r.Node().Registration()
					require.Equal(t, test.taken, there)
					n, _ := w.Fake.Node(base + "/orders/a")
					require.Equal(t, string(data(t, permanent(test.port))), string(n.Data))
				})
			})
		}
	}
}
