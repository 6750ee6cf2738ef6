package discovery_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
)

func permanent(port int) discovery.Instance {
	i := replica("a", port)
	i.Kind = discovery.Permanent
	return i
}

// A permanent instance at another address is a conflict, as an ephemeral one is.
// It is neither overwritten nor deleted, unless the policy is to replace it.
//
// Promise: A permanent instance of another client is a conflict and is not overwritten.
func TestPermanentInstanceOfAnotherIsAConflict(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, permanent(1))))
		c, _ := w.Connect(t)
		r := register(t, c, permanent(2))
		_, err := r.WaitRegistered(recipetest.Within(t, time.Minute))
		var conflict *discovery.ConflictError
		require.ErrorAs(t, err, &conflict)
		require.Equal(t, 1, conflict.Instance.Port)
		require.NoError(t, r.Shutdown(w.Patience(t)))
		n, there := w.Fake.Node(base + "/orders/a")
		require.True(t, there)
		require.Equal(t, string(data(t, permanent(1))), string(n.Data))
		require.Zero(t, n.Stat.Version)

		fails := register(t, c, permanent(2), discovery.WithConflictPolicy(nodes.Fail))
		_, err = fails.WaitRegistered(w.Patience(t))
		require.ErrorAs(t, err, &conflict)
		w.registered(t, c, permanent(2), discovery.WithConflictPolicy(nodes.Replace))
		n, _ = w.Fake.Node(base + "/orders/a")
		require.Equal(t, string(data(t, permanent(2))), string(n.Data))
	})
}

// A process that begins anew takes its permanent node over, and deletes it in
// the end.
func TestPermanentInstanceTakesItsNodeOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		was := permanent(1)
		was.Metadata = map[string]string{"version": "1"}
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, was)))
		created := w.czxid(t)
		c, _ := w.Connect(t)
		r := w.registered(t, c, permanent(1))
		require.Equal(t, created, w.czxid(t))
		n, _ := w.Fake.Node(base + "/orders/a")
		require.Equal(t, string(data(t, permanent(1))), string(n.Data))
		require.NoError(t, r.Shutdown(w.Patience(t)))
		require.Empty(t, w.Fake.Children(base+"/orders"))
	})
}

// A permanent instance at another address is another one, which no Update makes.
func TestPermanentInstanceDoesNotMove(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		r := w.registered(t, w.Observer, permanent(1))
		require.ErrorIs(t, r.Update(w.Patience(t), permanent(2)), zk.ErrBadArguments)
		require.Equal(t, 1, r.Instance().Port)
		labelled := permanent(1)
		labelled.Metadata = map[string]string{"version": "2"}
		require.NoError(t, r.Update(w.Patience(t), labelled))
	})
}

// Another instance that has come in the place of a permanent one, while that had
// no connection, is not overwritten, nor deleted.
func TestSuccessorOfAPermanentInstanceIsLeftAlone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		r := w.registered(t, c, permanent(1))
		network.Refuse(true)
		network.Cut()
		require.NoError(t, w.Fake.Delete(base+"/orders/a"))
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, permanent(2))))
		network.Refuse(false)
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		time.Sleep(time.Minute)
		_, there := r.Node().Registration()
		require.False(t, there)
		require.NoError(t, r.Shutdown(w.Patience(t)))
		n, there := w.Fake.Node(base + "/orders/a")
		require.True(t, there)
		require.Equal(t, string(data(t, permanent(2))), string(n.Data))
	})
}
