package follow_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// Each attempt may be at another path. That is one kind of trouble, and one line
// in the log.
func TestTroubleAtManyPathsIsLoggedOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.Fail(-1)})
		looks := 0
		f := newFollower(c, func(f *follower) {
			f.What, f.About = "follower", func() slog.Attr { return slog.String("path", "/") }
			f.Look = func(ctx context.Context, _ *framework.Session) error {
				looks++
				_, _, err := c.Get(ctx, fmt.Sprint("/n-", looks))
				return err
			}
		})
		require.ErrorIs(t, f.Run(recipetest.Within(t, time.Minute)), context.DeadlineExceeded)
		require.Greater(t, looks, 3)
		require.Equal(t, 1, strings.Count(log.String(), "follower is tried again after an error"), log.String())
	})
}

// The pauses of an outage are short again behind it.
func TestPausesOfAnOutageBeginAnew(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t, framework.WithRetry(retry.None()))
		fails := func(times int) {
			w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Times: times, Do: zktest.Fail(zktest.ErrThrottled)})
		}
		fails(4)
		f := newFollower(c, nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go f.run(ctx)
		settle(2 * time.Second)
		require.Equal(t, []string{"a"}, f.has())
		require.Equal(t, 800*time.Millisecond, f.pauses()[3])
		fails(1)
		require.NoError(t, w.Fake.Set("/n", []byte("b")))
		settle(time.Second)
		require.Equal(t, []string{"a", "b"}, f.has())
		require.Equal(t, 100*time.Millisecond, f.pauses()[5])
	})
}

// A server takes the credentials just before the follower waits for that.
func TestCredentialsThatAreTakenBeforeTheWait(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, network := w.Connect(t, framework.WithAuth("digest", []byte("me:secret")))
		var refusal *zktest.Injection
		f := newFollower(c, func(f *follower) {
			f.Outlasts = follow.RefusedCredentials
			f.What, f.About = "follower", func() slog.Attr {
				refusal.Remove()
				for s := range c.States(t.Context()) {
					if s.IsConnected() {
						break
					}
				}
				return slog.String("path", "/n")
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go f.run(ctx)
		settle(time.Second)

		network.Refuse(true)
		network.Cut()
		settle(5 * time.Minute)
		require.ErrorIs(t, f.Trouble(), framework.ErrNotConnected)
		require.NotErrorIs(t, f.Trouble(), zk.ErrAuthFailed)
		refusal = w.Fake.Inject(zktest.Rule{Op: zktest.OpAuth, Times: -1, Do: zktest.Fail(zktest.ErrAuthFailed)})
		require.NoError(t, w.Fake.Set("/n", []byte("b")))
		network.Refuse(false)
		settle(5 * time.Minute)
		require.Positive(t, refusal.Hits())
		require.Equal(t, []string{"a", "b"}, f.has())
	})
}

// What a follower knows to be its end is its end, also if it outlasts such errors
// elsewhere.
func TestEndsComesBeforeOutlasts(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		always := func(error) bool { return true }
		r := follow.Recovery{Client: c, Ends: always, Outlasts: always}
		require.ErrorIs(t, r.Wait(t.Context(), zk.ErrNoNode), zk.ErrNoNode)
	})
}

// Failed is for errors that the loop gets over, and not for its end.
func TestFailedIsNotToldOfTheEnd(t *testing.T) {
	for name, end := range map[string]func(w *recipetest.World, cancel func()){
		"context": func(_ *recipetest.World, cancel func()) { cancel() },
		"refusal": func(w *recipetest.World, _ func()) {
			w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.Fail(zktest.ErrNoAuth)})
			require.NoError(t, w.Fake.Set("/n", []byte("b")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				c, _ := w.Connect(t)
				failed := 0
				f := newFollower(c, func(f *follower) { f.Failed = func() { failed++ } })
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go f.run(ctx)
				settle(time.Second)
				end(w, cancel)
				require.Error(t, <-f.ended)
				require.Zero(t, failed)
			})
		})
	}
}

// The wait for a connection is pause enough: a follower that has waited for one
// in vain looks as soon as there is one.
func TestNoPauseBehindAWaitForAConnection(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		r := follow.Recovery{Client: c}
		begun := time.Now()
		require.NoError(t, r.Wait(t.Context(), framework.ErrNotConnected))
		require.Zero(t, time.Since(begun))
	})
}

// A context may be bound to a connection that is over, and not end with it. No attempt
// succeeds with it, and each fails at once.
func TestAttemptsThatAreCutOffPause(t *testing.T) {
	for name, end := range map[string]func(w *recipetest.World, session int64){
		"another connection": func(w *recipetest.World, _ int64) { w.Fake.CutAll() },
		"another session":    func(w *recipetest.World, session int64) { w.Fake.Session(session).Expire() },
		"no connection": func(w *recipetest.World, session int64) {
			w.Fake.RefuseConnections(true)
			w.Fake.CutAll()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				c, _ := w.Connect(t)
				s, err := c.Session(t.Context())
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				under := framework.Extend(c).WhileConnected(ctx, s.Trusted(state.StandardPolicy))
				end(w, c.SessionID())
				time.Sleep(time.Second)
				r, attempts := follow.Recovery{Client: c}, 0
				err = r.Until(under, func(ctx context.Context) error {
					if attempts++; attempts > 1000 {
						cancel()
					}
					_, _, err := c.Get(ctx, "/")
					return err
				})
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, framework.ErrNotConnected)
				require.Less(t, attempts, 30)
			})
		})
	}
}
