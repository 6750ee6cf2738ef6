package discovery_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
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

// An update that came later than its call is what counts, however many others the
// server refuses after that.
func TestRefusedUpdatesDoNotReviveAnOldOne(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		r := w.registered(t, c, replica("a", 1))
		network.Refuse(true)
		network.Cut()
		require.ErrorIs(t, r.Update(recipetest.Within(t, time.Second), replica("a", 2)), context.DeadlineExceeded)
		network.Refuse(false)
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		outlastGrace()
		quota := w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Times: -1, Do: zktest.Fail(zktest.ErrQuotaExceeded)})
		for n := range 30 {
			require.True(t, framework.IsRefusal(r.Update(w.Patience(t), replica("a", 100+n))))
		}
		quota.Remove()
		require.Equal(t, 2, r.Instance().Port)
		require.NoError(t, r.Drain(w.Patience(t)))
		drained := replica("a", 2)
		drained.Disabled = true
		n, _ := w.Fake.Node(base + "/orders/a")
		require.Equal(t, string(data(t, drained)), string(n.Data))
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
			outlastGrace()
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

// An update waits for its turn behind another one, which is in trouble. Its
// error says so as the other's does.
func TestUpdateBehindAnotherNamesTheTrouble(t *testing.T) {
	for name, tc := range map[string]struct {
		do   zktest.Action
		want error
	}{
		"throttled": {zktest.Fail(zktest.ErrThrottled), &framework.ServerError{Code: -127}},
		"hang-ups":  {zktest.DropRequest(), zk.ErrConnectionClosed},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				r := w.registered(t, c, replica("a", 1))
				trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Times: -1, Do: tc.do})
				first := make(chan error)
				go func() { first <- r.Update(recipetest.Within(t, time.Minute), replica("a", 2)) }()
				synctest.Wait()
				for name, change := range map[string]func(context.Context) error{
					"update": func(ctx context.Context) error { return r.Update(ctx, replica("a", 3)) },
					"drain":  r.Drain,
					"resume": r.Resume,
				} {
					err := change(recipetest.Within(t, time.Second))
					require.ErrorIs(t, err, context.DeadlineExceeded, name)
					require.ErrorIs(t, err, tc.want, name)
				}
				trouble.Remove()
				require.NoError(t, <-first)
				require.Equal(t, 2, r.Instance().Port)
				require.NoError(t, r.Node().Trouble())
			})
		})
	}
}

// An update of a node that is not there yet, because of another one, waits behind
// another update.
func TestUpdateBehindAnotherNamesTheConflict(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base, nil))
		require.NoError(t, w.Fake.Create(base+"/orders", nil))
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 7))))
		r, err := discovery.NewRegistration(w.Observer, base, plain{}, replica("a", 1))
		require.NoError(t, err)
		first := make(chan error)
		go func() { first <- r.Update(recipetest.Within(t, time.Minute), replica("a", 2)) }()
		synctest.Wait()
		err = r.Drain(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var conflict *discovery.ConflictError
		require.ErrorAs(t, err, &conflict)
		require.Equal(t, 7, conflict.Instance.Port)
		require.ErrorIs(t, r.Node().Trouble(), nodes.ErrConflict)
		require.Error(t, <-first)
		require.NoError(t, r.Shutdown(t.Context()))
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
		outlastGrace()
		require.Equal(t, 2, r.Instance().Port)
		require.NoError(t, r.Drain(w.Patience(t)))
		drained := replica("a", 2)
		drained.Disabled = true
		n, _ := w.Fake.Node(base + "/orders/a")
		require.Equal(t, string(data(t, drained)), string(n.Data))
	})
}

// An update that a server in trouble has not carried out yet is what counts, however
// many others are refused meanwhile.
func TestRefusedUpdatesDoNotDropOneThatIsUnderWay(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		r := w.registered(t, c, replica("a", 1))
		synctest.Wait()
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Times: -1, Do: zktest.Fail(zktest.ErrSystem)})
		require.ErrorIs(t, r.Update(recipetest.Within(t, time.Second), replica("a", 2)), context.DeadlineExceeded)
		large := replica("a", 3)
		large.Metadata = map[string]string{"x": strings.Repeat("x", 2<<20)}
		for range 16 { // more than are kept
			require.True(t, framework.IsRefusal(r.Update(recipetest.Within(t, time.Hour), large)))
		}
		require.Equal(t, 2, r.Instance().Port)
		trouble.Remove()
		time.Sleep(time.Minute)
		require.Equal(t, 2, r.Instance().Port)
		n, _ := w.Fake.Node(base + "/orders/a")
		require.Equal(t, string(data(t, replica("a", 2))), string(n.Data))
	})
}
