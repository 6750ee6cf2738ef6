package atomic_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/testing/zktest"
)

// Another client is faster each time, and the client is closed during the pause
// that follows. The call returns at once.
//
// Promise: The pauses of a change that others are ahead of end when the client is closed.
func TestPauseAfterAConflictEndsWithTheClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		v := atomic.NewValue(c, "/n", codec.Bytes())
		require.NoError(t, v.Store(w.Patience(t), []byte("first")))
		ahead := zktest.Call(func(zktest.Request) { assert.NoError(t, w.Fake.Set("/n", []byte("theirs"))) })
		w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Session: c.SessionID(), Times: -1, Do: ahead})
		over := make(chan error)
		go func() { over <- v.Store(w.Patience(t), []byte("ours")) }()
		synctest.Wait() // requests take no time here, so the call is in its first pause
		begun := time.Now()
		require.NoError(t, c.Close())
		err := <-over
		require.Zero(t, time.Since(begun))
		require.ErrorIs(t, err, framework.ErrClosed)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
	})
}

// A receipt lives as long as the session.
func TestReceiptsEnd(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, network := w.Connect(t)
		kept := atomic.NewLong(c, "/n", atomic.WithReceipts("/receipts"))
		for range 3 {
			_, err := kept.Add(ctx, 1)
			require.NoError(t, err)
		}
		require.Len(t, w.Fake.Children("/receipts"), 1)

		network.Expire(t)
		settle()
		for range 3 {
			_, err := kept.Add(ctx, 1)
			require.NoError(t, err)
		}
		require.Len(t, w.Fake.Children("/receipts"), 1)
		w.Fake.Delete("/receipts/" + w.Fake.Children("/receipts")[0])
		now, err := kept.Add(ctx, 1)
		require.NoError(t, err, "an operator has deleted the receipt")
		require.EqualValues(t, 7, now)
	})
}

// A Load sees what was complete before it, also on a server that lags behind.
//
// Promise: A value is as new as the call that returns it, even from a server that lags.
func TestLoadOnAServerThatLags(t *testing.T) {
	loadOnServersThatLag(t, func(ens *zktest.Ensemble) []*zktest.Member { return ens.Followers() })
}

func loadOnServersThatLag(t *testing.T, late func(*zktest.Ensemble) []*zktest.Member) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		ctx := recipetest.Within(t, time.Hour)
		var numbers []*atomic.Long
		for _, m := range ens.Members() {
			c, err := framework.New(m.Addr(), framework.WithDialer(m.Dialer()))
			require.NoError(t, err)
			defer c.Close()
			require.NoError(t, c.WaitConnected(ctx))
			numbers = append(numbers, atomic.NewLong(c, "/n"))
		}
		for _, m := range late(ens) {
			m.Lag(time.Second)
		}
		var count int64
		for range 3 {
			for i, n := range numbers {
				now, err := n.Add(ctx, 1)
				require.NoError(t, err)
				count++
				require.Equal(t, count, now)
				seen, err := numbers[(i+1)%3].Load(ctx)
				require.NoError(t, err)
				require.Equal(t, count, seen)
				swapped, err := numbers[(i+2)%3].CompareAndSwap(ctx, count-1, 0)
				require.NoError(t, err)
				require.False(t, swapped)
			}
		}
	})
}
