package leader_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// The error of Run says that the leadership was lost. It does not name the release
// of the lease, because a selector's user never sees that.
func TestSelectorsErrorNamesTheLeadershipThatWasLost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		failed := errors.New("work failed")
		for _, of := range []struct {
			work error
			text string
		}{
			{nil, "run " + path + ": session lost"},
			{failed, "work failed\nrun " + path + ": session lost"},
		} {
			err := leader.NewSelector(c, path).Run(w.Patience(t), func(ctx context.Context) error {
				w.Fake.Session(c.SessionID()).Expire()
				<-ctx.Done()
				return of.work
			})
			require.ErrorIs(t, err, framework.ErrSessionLost)
			require.Equal(t, of.work != nil, errors.Is(err, failed))
			require.Regexp(t, "^"+of.text, err.Error())
		}
	})
}

// The error of WaitLeadership without a connection has the outcome of the last
// attempt to connect.
func TestWaitLeadershipWithoutAConnectionTellsOfTheLastAttempt(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, err := framework.New(w.Addr, framework.WithDialer(func(context.Context, string, string) (net.Conn, error) {
			return nil, syscall.ECONNREFUSED
		}))
		require.NoError(t, err)
		defer c.Close()
		l := latch(t, c, "/l")
		_, err = l.WaitLeadership(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "wait leadership /l: ")
		require.ErrorContains(t, err, "(last attempt: connection refused)")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.True(t, framework.IsConnectionError(err))
		require.NoError(t, l.Shutdown(recipetest.Within(t, time.Second)))
	})
}

// An error names the call that returns it.
func TestErrorsNameTheCall(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		holder, _ := w.startLatches(t, "/l", 1)
		c, _ := w.Connect(t)
		second := latch(t, c, "/l")
		synctest.Wait()
		_, err := second.WaitLeadership(recipetest.Within(t, time.Second))
		require.ErrorContains(t, err, "wait leadership /l: not acquired: 1 ahead")
		_, err = second.WaitLeadership(recipetest.Within(t, 0))
		require.ErrorContains(t, err, "wait leadership /l: not acquired: 1 ahead")
		err = second.Lead(recipetest.Within(t, time.Second), func(context.Context) error { return nil })
		require.ErrorContains(t, err, "lead /l: not acquired: 1 ahead")
		w.closeAll(t, "/l", second, holder[0])
		err = second.Lead(t.Context(), func(context.Context) error { return nil })
		require.EqualError(t, err, "lead /l: leader latch closed")
		_, err = second.WaitLeadership(t.Context())
		require.EqualError(t, err, "wait leadership /l: leader latch closed")
		require.EqualError(t, second.Err(), "leader latch /l: leader latch closed", "it names no call: there was none")
		_, err = leader.NewLatch(nil, "/l")
		require.ErrorContains(t, err, "new latch /l: ")
		_, err = leader.NewSelector(nil, "/l").Leader(t.Context())
		require.ErrorContains(t, err, "leader /l: ")
		_, err = leader.NewSelector(nil, "/l").Participants(t.Context())
		require.ErrorContains(t, err, "participants /l: ")

		mutex := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(w.Observer, "/s"))
		err = leader.NewSelector(c, "/s").Run(recipetest.Within(t, time.Second), func(context.Context) error { return nil })
		require.ErrorContains(t, err, "run /s: not acquired: 1 ahead")
		require.NoError(t, mutex.Release(t.Context()))
		c.Close()
		err = leader.NewSelector(c, "/s").Run(t.Context(), func(context.Context) error { return nil })
		require.ErrorContains(t, err, "run /s: ")
	})
}

// The error of WaitLeadership without success names the present leader, and not
// an earlier one.
func TestWaitLeadershipInVainNamesTheLeader(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		latches, _ := w.startLatches(t, "/l", 1, leader.WithID("the first"))
		c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
		second := latch(t, c, "/l")
		_, err := second.WaitLeadership(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var held *locks.NotAcquiredError
		require.ErrorAs(t, err, &held)
		require.Equal(t, "the first", held.Identity().Foreign)

		require.NoError(t, latches[0].Shutdown(t.Context()))
		lease := w.await(t, second)
		network.Refuse(true)
		network.Cut()
		w.endOf(t, lease)
		_, err = second.WaitLeadership(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, locks.ErrNotAcquired)
		network.Refuse(false)
		w.await(t, second)
		w.closeAll(t, "/l", second)
	})
}

// A candidate loses its session, and its next node is still being made when a
// caller gives up. The error names the leader that the candidate has seen.
func TestCandidateThatQueuesAgainRemembersTheLeader(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, c *framework.Client) error{
		"wait leadership": func(ctx context.Context, c *framework.Client) error {
			l, err := leader.NewLatch(c, "/l")
			if err != nil {
				return err
			}
			_, err = l.WaitLeadership(ctx)
			return err
		},
		"run": func(ctx context.Context, c *framework.Client) error {
			return leader.NewSelector(c, "/l").Run(ctx, func(context.Context) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				w.startLatches(t, "/l", 1, leader.WithID("latch"))
				other := leader.NewSelector(w.Observer, "/l", leader.WithID("selector"))
				go other.Run(w.Patience(t), func(ctx context.Context) error { <-ctx.Done(); return nil })
				synctest.Wait()
				c, network := w.Connect(t)
				var err error
				done := make(chan struct{})
				go func() {
					defer close(done)
					err = wait(recipetest.Within(t, time.Minute), c)
				}()
				synctest.Wait()
				w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.DelayRequest(2 * time.Minute)})
				network.Expire(t)
				<-done
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
				var held *locks.NotAcquiredError
				require.ErrorAs(t, err, &held)
				require.Contains(t, []string{"latch", "selector"}, held.Identity().Foreign)
			})
		})
	}
}
