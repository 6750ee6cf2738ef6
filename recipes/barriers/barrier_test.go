package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/state"
)

var standardPolicy = state.StandardPolicy

// waitLater begins a Wait.
func waitLater(ctx context.Context, b *barriers.Barrier) (done chan error) {
	done = make(chan error, 1)
	go func() { done <- b.Wait(ctx) }()
	return done
}

// waitWatches waits until the server has n watches.
func (w *world) waitWatches(t *testing.T, n int) {
	t.Helper()
	if w.Fake != nil {
		require.NoError(t, w.Fake.WaitFor(w.Patience(t), func() bool { return len(w.Fake.Watches()) == n }))
		return
	}
	require.Eventually(t, func() bool { return w.Watches() == n }, time.Minute, 10*time.Millisecond)
}

// A barrier that is down lets everybody through. One that is up holds
// everybody up until somebody lowers it. Waiters have one watch for each
// client.
func TestBarrierHoldsWaitersUp(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t) + "/deep"
		ctx := w.Patience(t)
		clients := w.clients(t, 2)
		one, two := barriers.NewBarrier(clients[0], path), barriers.NewBarrier(clients[1], path)
		require.NoError(t, one.Wait(ctx))
		require.NoError(t, one.Lower(ctx), "it is down already")
		_, up, err := one.Raised(ctx)
		require.NoError(t, err)
		require.False(t, up)

		for range 2 {
			raised, err := one.Raise(ctx)
			require.NoError(t, err)
			require.Zero(t, raised.Owner)
			again, err := two.Raise(ctx)
			require.NoError(t, err)
			require.Equal(t, raised, again, "the first one has raised it")
			seen, up, err := two.Raised(ctx)
			require.NoError(t, err)
			require.True(t, up)
			require.Equal(t, raised, seen)

			a, b, c := waitLater(ctx, one), waitLater(ctx, two), waitLater(ctx, two)
			w.waitWatches(t, 2)
			require.NoError(t, two.Lower(ctx))
			require.NoError(t, <-a)
			require.NoError(t, <-b)
			require.NoError(t, <-c)
			w.NoWatches(t)
		}
	})
}

// A Wait that gives up says who has raised the barrier, and since when, and
// withdraws its watch.
func TestWaitThatGivesUpNamesTheOwner(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t, framework.WithServiceName("migration"))
		other, _ := w.Connect(t)
		since := time.Now()
		raised, err := barriers.NewBarrier(c, "/b").Raise(t.Context(), barriers.WithSession())
		require.NoError(t, err)
		require.Equal(t, "migration", raised.By.Service)
		require.Equal(t, c.SessionID(), raised.Owner)
		require.Equal(t, c.SessionID(), raised.Session.ID())

		time.Sleep(time.Minute)
		err = barriers.NewBarrier(other, "/b").Wait(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, barriers.ErrRaised)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var up *barriers.RaisedError
		require.ErrorAs(t, err, &up)
		require.Equal(t, "migration", up.Raised.By.Service)
		require.Equal(t, raised.Czxid, up.Raised.Czxid)
		require.WithinDuration(t, since, up.Raised.Since, time.Second)
		require.Nil(t, up.Raised.Session, "it is not this client's")
		require.ErrorContains(t, err, "wait /b: barrier is raised by migration@")
		require.ErrorContains(t, err, ", until the end of session 0x")
		w.NoWatches(t)
	})
}

// A barrier that is bound to a session falls with it. So does one of a process
// that crashed.
func TestBarrierOfASessionFallsWithIt(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, network := w.Connect(t)
		other, _ := w.Connect(t)
		raised, err := barriers.NewBarrier(c, path).Raise(w.Patience(t), barriers.WithSession())
		require.NoError(t, err)
		done := waitLater(w.Patience(t), barriers.NewBarrier(other, path))
		w.waitWatches(t, 1)
		network.Expire(t)
		require.NoError(t, <-done)
		<-raised.Session.Context().Done()
		require.ErrorIs(t, context.Cause(raised.Session.Context()), framework.ErrSessionLost)
		w.NoWatches(t)
	})
}

// A barrier that is up already: what becomes of it depends on whether it is
// bound to a session, and to which.
func TestRaiseOfABarrierThatIsUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		clients := w.clients(t, 2)
		one, two := barriers.NewBarrier(clients[0], "/b"), barriers.NewBarrier(clients[1], "/b")
		bound, err := one.Raise(ctx, barriers.WithSession())
		require.NoError(t, err)
		again, err := one.Raise(ctx, barriers.WithSession())
		require.NoError(t, err)
		require.Equal(t, bound, again)

		_, err = two.Raise(ctx, barriers.WithSession())
		var other *barriers.RaisedError
		require.ErrorAs(t, err, &other)
		require.Equal(t, clients[0].SessionID(), other.Raised.Owner)

		waits := waitLater(w.Patience(t), two)
		settle()
		free, err := two.Raise(ctx)
		require.NoError(t, err)
		require.Zero(t, free.Owner)
		settle()
		require.Empty(t, waits, "it was up all the time")
		kept, err := one.Raise(ctx, barriers.WithSession())
		require.NoError(t, err)
		require.Equal(t, free, kept)
		require.NoError(t, clients[0].Close())
		settle()
		require.Empty(t, waits, "it falls with no session")
		require.NoError(t, two.Lower(ctx))
		require.NoError(t, <-waits)
	})
}

// A barrier that a lost session has left falls with it, and is then raised in
// the next session.
func TestRaiseAfterALossOfTheSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		host := w.Fake.NewHost()
		c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(w.Session))
		require.NoError(t, err)
		defer c.Close()
		b := barriers.NewBarrier(c, "/b")
		raised, err := b.Raise(t.Context(), barriers.WithSession())
		require.NoError(t, err)
		host.Isolate()
		<-raised.Session.Context().Done()
		host.Heal()
		again, err := b.Raise(w.Patience(t), barriers.WithSession())
		require.NoError(t, err)
		require.NotEqual(t, raised.Owner, again.Owner)
		require.Equal(t, raised.Owner != again.Owner, raised.Czxid != again.Czxid)
		time.Sleep(time.Minute)
		seen, up, err := b.Raised(t.Context())
		require.NoError(t, err)
		require.True(t, up)
		require.Equal(t, again, seen)
	})
}

// Waiters see through a replacement, and through interruptions and losses of
// their session.
func TestWaitOutlivesItsSession(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, network := w.Connect(t)
		_, err := barriers.NewBarrier(w.Observer, path).Raise(w.Patience(t))
		require.NoError(t, err)
		done := waitLater(w.Patience(t), barriers.NewBarrier(c, path))
		w.waitWatches(t, 1)
		network.Cut()
		require.NoError(t, c.Sync(w.Patience(t), "/"))
		old := c.SessionID()
		network.Expire(t)
		for c.SessionID() == old || !c.State().IsConnected() {
			require.NoError(t, c.Sync(w.Patience(t), "/"))
		}
		w.waitWatches(t, 1)
		require.Empty(t, done)
		require.NoError(t, barriers.NewBarrier(w.Observer, path).Lower(w.Patience(t)))
		require.NoError(t, <-done)
		w.NoWatches(t)
	})
}

// A persistent node at the path of a barrier is a barrier that comes back.
func TestPersistentNodeIsABarrier(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		n, err := nodes.NewPersistentNode(c, "/b", nil)
		require.NoError(t, err)
		_, err = n.WaitRegistered(w.Patience(t))
		require.NoError(t, err)
		network.Expire(t)
		time.Sleep(time.Second)
		_, up, err := barriers.NewBarrier(w.Observer, "/b").Raised(t.Context())
		require.NoError(t, err)
		require.True(t, up)
		require.NoError(t, n.Shutdown(w.Patience(t)))
	})
}

// Values that cannot be used are errors of every call, before anything is sent.
func TestBarriersThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		w.Fake.ClearRequests()
		ctx := t.Context()
		for b, want := range map[*barriers.Barrier]error{
			{}:                             zk.ErrBadArguments,
			barriers.NewBarrier(nil, "/b"): zk.ErrBadArguments,
			barriers.NewBarrier(c, "b"):    zk.ErrInvalidPath,
			barriers.NewBarrier(c, "/"):    zk.ErrInvalidPath,
		} {
			_, err := b.Raise(ctx)
			require.ErrorIs(t, err, want)
			require.ErrorIs(t, b.Lower(ctx), want)
			require.ErrorIs(t, b.Wait(ctx), want)
			_, _, err = b.Raised(ctx)
			require.ErrorIs(t, err, want)
		}
		_, err := barriers.NewBarrier(c, "/b").Raise(ctx, nil)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		require.Empty(t, w.Requests())
	})
}
