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

// The session that raised a barrier is lost, and the barrier falls. Somebody
// else raises it without a session right before a request of the first client,
// which raises it again. The barrier is up without a session then, and stays
// up.
func TestRaiseLeavesTheBarrierOfAnotherClient(t *testing.T) {
	for _, test := range []struct {
		op   zktest.Op
		opts []barriers.RaiseOption // of the second Raise
	}{
		{zktest.OpExists, []barriers.RaiseOption{barriers.WithSession()}},
		{zktest.OpGetData, []barriers.RaiseOption{barriers.WithSession()}},
		{zktest.OpGetData, nil},
		{zktest.OpMulti, nil}, // a barrier of a session becomes one without
	} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			host := w.Fake.NewHost()
			c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(w.Session))
			require.NoError(t, err)
			other, _ := w.Connect(t)
			b := barriers.NewBarrier(c, "/b")
			raised, err := b.Raise(t.Context(), barriers.WithSession())
			require.NoError(t, err)
			host.Isolate()
			<-raised.Session.Context().Done()
			host.Heal()
			require.NoError(t, c.WaitConnected(t.Context()))
			between := w.Fake.Inject(zktest.Rule{Optional: true, Op: test.op, Session: c.SessionID(), Do: zktest.Call(func(zktest.Request) {
				w.Fake.Session(raised.Owner).Expire()
				if _, err := barriers.NewBarrier(other, "/b").Raise(context.Background()); err != nil {
					t.Error(err)
				}
			})})
			seen, err := b.Raise(w.Patience(t), test.opts...)
			require.NoError(t, err)
			require.Zero(t, seen.Owner)
			require.Equal(t, 1, between.Hits())
			free, err := barriers.NewBarrier(other, "/b").Raise(t.Context())
			require.NoError(t, err)
			require.NoError(t, c.Close())
			time.Sleep(time.Minute)
			seen, up, err := barriers.NewBarrier(other, "/b").Raised(t.Context())
			require.NoError(t, err)
			require.True(t, up, "nobody has lowered it")
			require.Equal(t, free, seen)
		})
	}
}

// A Raise that fails after it has raised the barrier says that the outcome is
// unknown. One that has not is certain.
func TestRaiseThatFailsMayHaveRaised(t *testing.T) {
	for op, done := range map[zktest.Op]bool{zktest.OpCreate: false, zktest.OpGetData: true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Path: "/b", Do: zktest.Fail(zktest.ErrNoAuth)})
			_, err := barriers.NewBarrier(c, "/b").Raise(recipetest.Within(t, time.Second))
			_, up := w.Fake.Node("/b")
			require.Equal(t, done, up)
			if done {
				require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
			} else {
				require.Error(t, err)
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
			}
		})
	}
}

// The reply to a Raise is lost with the session, and there is no connection
// until Raise gives up.
func TestRaiseThatGivesUpInAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		host := w.Fake.NewHost()
		c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(w.Session))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.WaitConnected(t.Context()))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/b", Do: zktest.All(
			zktest.CallAfter(func(zktest.Request) { host.Isolate() }), zktest.BlackholeReply())})
		_, err = barriers.NewBarrier(c, "/b").Raise(recipetest.Within(t, time.Minute))
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, up := w.Fake.Node("/b")
		require.True(t, up)
	})
}
