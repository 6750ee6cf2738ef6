package discovery_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

// The time of the registration stays, unless an update has another one.
func TestUpdateKeepsTheTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		r := w.registered(t, w.Observer, replica("a", 1))
		was := r.Instance().Registered
		time.Sleep(time.Hour)
		require.NoError(t, r.Update(w.Patience(t), replica("a", 2)))
		require.Equal(t, was, r.Instance().Registered)
		next := replica("a", 2)
		next.Registered = time.Now()
		require.NoError(t, r.Update(w.Patience(t), next))
		require.Equal(t, next.Registered, r.Instance().Registered)
	})
}

// The time is in the name of a node of Dubbo's, which an update cannot change.
func TestUpdateKeepsTheNameOfADubboInterface(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		r, err := discovery.NewRegistration(w.Observer, "/dubbo", discovery.DubboInterfaceCodec("tri"), replica("", 1))
		require.NoError(t, err)
		defer r.Shutdown(over())
		time.Sleep(time.Hour)
		require.NoError(t, r.Update(w.Patience(t), replica("", 1)))
	})
}

// Updates whose contexts have ended, and which the server refuses later, change
// nothing, and hold up no later change.
//
// Promise: An update that the server refuses later changes nothing.
func TestUpdateThatIsRefusedLaterChangesNothing(t *testing.T) {
	for _, updates := range []int{1, 2, 30} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, network := w.Connect(t)
			r := w.registered(t, c, replica("a", 1))
			network.Refuse(true)
			network.Cut()
			synctest.Wait() // on a connection, the client would refuse it at once
			large := replica("a", 2)
			large.Metadata = map[string]string{"x": strings.Repeat("x", 2<<20)}
			for range updates {
				require.ErrorIs(t, r.Update(recipetest.Within(t, time.Second), large), context.DeadlineExceeded)
			}
			require.Equal(t, 2, r.Instance().Port)
			network.Refuse(false)
			require.NoError(t, c.WaitConnected(w.Patience(t)))
			passGrace()
			n, _ := w.Fake.Node(base + "/orders/a")
			require.Equal(t, string(data(t, replica("a", 1))), string(n.Data), "%d updates", updates)
			require.Equal(t, 1, r.Instance().Port)
			require.NoError(t, r.Drain(w.Patience(t)))
			drained := replica("a", 1)
			drained.Disabled = true
			n, _ = w.Fake.Node(base + "/orders/a")
			require.Equal(t, string(data(t, drained)), string(n.Data))
		})
	}
}

// What Instance returns can be changed and passed to Update: a drain stays one.
func TestUpdateOfWhatInstanceReturns(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		r := w.registered(t, w.Observer, replica("a", 1))
		d := w.directory(t, w.Observer)
		require.NoError(t, r.Drain(w.Patience(t)))
		i := r.Instance()
		i.Metadata = map[string]string{"zone": "b"}
		require.NoError(t, r.Update(w.Patience(t), i))
		settle()
		require.Equal(t, []string{"a:1 drains"}, names(d))
		require.Equal(t, "b", d.Snapshot().Entries[0].Metadata["zone"])
	})
}

// An update that came later than its call is what counts, however many others were
// made in an outage, and are refused after that.
//
// Promise: A refused update does not revive an older one.
func TestUpdatesThatAreRefusedLaterDoNotReviveAnOldOne(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		r := w.registered(t, c, replica("a", 1))
		synctest.Wait()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Do: zktest.DelayReply(time.Second)})
		require.ErrorIs(t, r.Update(recipetest.Within(t, time.Millisecond), replica("a", 2)), context.DeadlineExceeded)
		time.Sleep(time.Minute) // the node has it now
		network.Refuse(true)
		network.Cut()
		synctest.Wait() // on a connection, the client would refuse it at once
		large := replica("a", 3)
		large.Metadata = map[string]string{"x": strings.Repeat("x", 2<<20)}
		for range 16 { // more than are kept
			require.ErrorIs(t, r.Update(recipetest.Within(t, time.Millisecond), large), context.DeadlineExceeded)
		}
		network.Refuse(false)
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		passGrace()
		require.Equal(t, 2, r.Instance().Port)
		require.NoError(t, r.Drain(w.Patience(t)))
		drained := replica("a", 2)
		drained.Disabled = true
		n, _ := w.Fake.Node(base + "/orders/a")
		require.Equal(t, string(data(t, drained)), string(n.Data))
	})
}
