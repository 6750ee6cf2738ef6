package discovery_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
)

// czxid returns the czxid of the only instance of the service on the fake server.
func (w *world) czxid(t *testing.T) int64 {
	t.Helper()
	names := w.Fake.Children(base + "/orders")
	require.Len(t, names, 1)
	n, there := w.Fake.Node(base + "/orders/" + names[0])
	require.True(t, there)
	return n.Stat.Czxid
}

// Updates and drains change the data in place.
func TestUpdateChangesTheNodeInPlace(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		r := w.registered(t, c, replica("a", 1))
		created := w.czxid(t)
		d := w.directory(t, w.Observer)
		news := follow(t, d)
		settle()
		require.Equal(t, []string{"added a:1", "synced"}, news())
		next := replica("", 2)
		next.Metadata = map[string]string{"zone": "b"}
		require.NoError(t, r.Update(w.Patience(t), next))
		next.Metadata["zone"] = "c" // the caller's
		settle()
		require.NoError(t, r.Drain(w.Patience(t)))
		settle()
		require.Equal(t, []string{"updated a:2", "updated a:2 drains"}, news())
		require.Empty(t, d.Instances())
		require.Equal(t, "b", d.Snapshot().Entries[0].Metadata["zone"])
		require.True(t, r.Instance().Disabled)
		require.NoError(t, r.Resume(w.Patience(t)))
		settle()
		require.Equal(t, []string{"updated a:2"}, news())
		require.Equal(t, created, w.czxid(t))
	})
}

// What the codec or the server refuses changes nothing.
//
// Promise: An update that the server refuses changes nothing.
func TestRefusedUpdateChangesNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		r := w.registered(t, c, replica("a", 1))
		require.ErrorContains(t, r.Update(t.Context(), replica("a", -1)), "negative port")
		large := replica("a", 2)
		large.Metadata = map[string]string{"x": string(make([]byte, 2<<20))}
		err := r.Update(w.Patience(t), large)
		require.True(t, framework.IsRefusal(err), "%v", err)
		require.Equal(t, 1, r.Instance().Port)
		require.NoError(t, r.Drain(w.Patience(t)))
		n, _ := w.Fake.Node(base + "/orders/a")
		i := replica("a", 1)
		i.Disabled = true
		require.Equal(t, string(data(t, i)), string(n.Data))
	})
}

// Updates wait for one another. One whose context ends while it waits for its
// turn changes nothing, and one that had its turn comes later.
func TestUpdatesDuringAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		r := w.registered(t, c, replica("a", 1))
		require.ErrorIs(t, r.Update(over(), replica("a", 4)), context.Canceled)
		require.Equal(t, 1, r.Instance().Port)
		network.Refuse(true)
		network.Cut()
		settle()
		first := make(chan error, 1)
		go func() { first <- r.Update(recipetest.Within(t, 2*time.Second), replica("a", 2)) }()
		settle()
		require.ErrorIs(t, r.Update(recipetest.Within(t, time.Second), replica("a", 3)), context.DeadlineExceeded)
		require.ErrorIs(t, <-first, context.DeadlineExceeded)
		require.Equal(t, 2, r.Instance().Port)
		network.Refuse(false)
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		settle()
		n, _ := w.Fake.Node(base + "/orders/a")
		require.Equal(t, string(data(t, replica("a", 2))), string(n.Data))
	})
}

// A second process with the same ID is in conflict, and knows with whom (B6).
func TestSecondProcessIsInConflict(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		a, _ := w.Connect(t)
		b, _ := w.Connect(t)
		first := w.registered(t, a, replica("a", 1))
		there, _ := first.Node().Registration()
		check := func(err error) {
			t.Helper()
			var conflict *discovery.ConflictError
			require.ErrorAs(t, err, &conflict)
			require.Equal(t, 1, conflict.Instance.Port)
			require.Equal(t, there.Session.ID(), conflict.Node.Session)
			require.Equal(t, there.Czxid, conflict.Node.Czxid)
			require.False(t, conflict.Node.Since.IsZero())
			require.ErrorIs(t, err, nodes.ErrConflict)
			require.ErrorContains(t, err, `an instance at "10.0.0.7", port 1, has the ID`)
		}
		fails := register(t, b, replica("a", 2), discovery.WithConflictPolicy(nodes.Fail))
		_, err := fails.WaitRegistered(w.Patience(t))
		check(err)
		<-fails.Done()
		check(fails.Err())
		require.NoError(t, fails.Shutdown(w.Patience(t)))

		waits := register(t, b, replica("a", 3))
		for c := range waits.Node().Changes(w.Patience(t)) { // a busy server may take its time
			if c.State == nodes.Conflict {
				break
			}
		}
		_, err = waits.WaitRegistered(recipetest.Within(t, time.Second))
		check(err)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		now, ok := first.Node().Registration()
		require.True(t, ok)
		require.Equal(t, there, now)
		require.NoError(t, first.Shutdown(w.Patience(t)))
		_, err = waits.WaitRegistered(w.Patience(t))
		require.NoError(t, err)
		require.NoError(t, waits.Shutdown(w.Patience(t)))
	})
}

// An instance that is shut down during an outage is gone after it, and never
// back (B9).
//
// Promise: An instance that was shut down during an outage does not come back.
func TestInstanceThatIsShutDownInAnOutageNeverComesBack(t *testing.T) {
	for name, outage := range map[string]time.Duration{"session survives": time.Second, "session is lost": time.Minute} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t)
				r := w.registered(t, c, replica("a", 1))
				news := follow(t, w.directory(t, w.Observer))
				settle()
				require.Len(t, news(), 2)
				network.Refuse(true)
				network.Cut()
				require.ErrorIs(t, r.Shutdown(recipetest.Within(t, time.Second/2)), context.DeadlineExceeded)
				time.Sleep(outage)
				network.Refuse(false)
				require.NoError(t, c.WaitConnected(w.Patience(t)))
				require.NoError(t, r.Shutdown(w.Patience(t)))
				passGrace()
				require.Empty(t, w.Fake.Children(base+"/orders"))
				require.Equal(t, []string{"removed a:1"}, news())
				w.Fake.Session(c.SessionID()).Expire()
				time.Sleep(time.Hour)
				synctest.Wait()
				require.Empty(t, news())
				require.ErrorIs(t, r.Update(t.Context(), replica("a", 2)), nodes.ErrClosed)
			})
		})
	}
}

// An instance without an ID gets one, and the time of its registration.
func TestInstanceGetsAnIDAndATime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		one, two := w.registered(t, w.Observer, replica("", 1)), w.registered(t, w.Observer, replica("", 2))
		require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, one.Instance().ID)
		require.NotEqual(t, one.Instance().ID, two.Instance().ID)
		require.Equal(t, time.Now(), one.Instance().Registered)
		require.Len(t, w.Fake.Children(base+"/orders"), 2)
	})
}

// anyName is a format whose nodes have a name that the instances do not choose.
type anyName struct {
	plain
	name string
}

func (a anyName) Encode(i discovery.Instance) (string, []byte, error) {
	_, data, err := a.plain.Encode(i)
	return a.name, data, err
}

func TestRegistrationsThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		refused := func(want error, c *framework.Client, codec discovery.Codec, i discovery.Instance, opts ...discovery.RegistrationOption) {
			t.Helper()
			_, err := discovery.NewRegistration(c, base, codec, i, opts...)
			require.ErrorIs(t, err, want)
		}
		good := replica("a", 1)
		numbered := good
		numbered.Kind = discovery.DynamicSequential
		refused(zk.ErrBadArguments, nil, plain{}, good)
		refused(zk.ErrBadArguments, w.Observer, nil, good)
		refused(zk.ErrBadArguments, w.Observer, plain{}, good, nil)
		refused(zk.ErrBadArguments, w.Observer, plain{}, numbered)
		refused(zk.ErrBadArguments, w.Observer, plain{}, good, discovery.WithConflictPolicy(9))
		refused(zk.ErrBadArguments, w.Observer, plain{}, good, discovery.WithACL(nil))
		elsewhere := replica("a", 1)
		elsewhere.Service = "orders/.."
		refused(zk.ErrInvalidPath, w.Observer, plain{}, elsewhere)
		for _, name := range []string{"", ".", "a/b", "a/../b"} {
			refused(zk.ErrBadArguments, w.Observer, anyName{name: name}, good)
		}
		for _, base := range []string{"", "services", "/services/"} {
			_, err := discovery.NewRegistration(w.Observer, base, plain{}, good)
			require.ErrorIs(t, err, zk.ErrInvalidPath, base)
		}
		w.registered(t, w.Observer, good)
		refused(nodes.ErrInUse, w.Observer, plain{}, good)
		require.NoError(t, w.Observer.Close())
		refused(framework.ErrClosed, w.Observer, plain{}, good)
	})
}
