package leader_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// creations returns when clients asked the server to create nodes, as times
// since the start.
func (w *world) creations(start time.Time) []time.Duration {
	var at []time.Duration
	for _, r := range w.Fake.Requests() {
		if r.Op == zktest.OpCreate {
			at = append(at, r.Time.Sub(start))
		}
	}
	return at
}

// A candidacy in trouble sends requests less and less often. After it has stood
// again, the pauses start from the shortest.
func TestCandidacyInTroublePausesLongerAndLonger(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t, framework.WithRetry(retry.None()))
		l := latch(t, c, "/l")
		lease := w.await(t, l)
		for range 2 {
			w.Fake.ClearRequests()
			// The trouble ends after a number of requests. So a latch that does
			// not pause at all fails this test, and does not run for ever.
			trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 100, Do: zktest.Fail(zktest.ErrSystem)})
			start := time.Now()
			require.NoError(t, lease.Release(t.Context()))
			time.Sleep(100 * time.Second)
			want := []time.Duration{0, 1, 3, 7, 15, 31, 61, 91}
			for i := range want {
				want[i] *= time.Second
			}
			require.Equal(t, want, w.creations(start))
			trouble.Remove()
			lease = w.await(t, l)
		}
		w.closeAll(t, "/l", l)
	})
}

// A candidacy in trouble does not hide that. The trouble is in the error of
// each call that waits, and in the log, once for each kind.
func TestCandidacyInTroubleSaysSo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		lines := func() int {
			synctest.Wait() // the log has a goroutine of its own
			return strings.Count(log.String(), "leader latch is tried again after an error")
		}
		l := latch(t, c, "/l")
		first := w.await(t, l)
		var rule *zktest.Injection
		for i, code := range []zktest.Code{zktest.ErrSystem, zktest.ErrOperationTimeout} {
			again := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.Fail(code)})
			if i == 0 {
				require.NoError(t, first.Release(t.Context()))
			} else {
				rule.Remove()
			}
			rule = again
			_, err := l.Await(recipetest.Within(t, 10*time.Minute))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, &framework.ServerError{Code: int32(code)}, "%v", err)
			require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
			require.ErrorContains(t, err, "await /l: context deadline exceeded (last error: create /l/latch-: ")
			require.Equal(t, i+1, lines(), "%s", &log)
		}
		rule.Remove()
		start := time.Now()
		w.await(t, l)
		require.LessOrEqual(t, time.Since(start), 30*time.Second)
		w.closeAll(t, "/l", l)
	})
}

// A request that is made again and again, and not given up yet, is trouble, too.
func TestAwaitNamesWhatARequestHasOutlasted(t *testing.T) {
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
				trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: tc.do})
				l := latch(t, c, "/l")
				for _, wait := range []time.Duration{time.Second, time.Minute} {
					_, err := l.Await(recipetest.Within(t, wait))
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.ErrorIs(t, err, tc.want, "%v", wait)
				}
				trouble.Remove()
				lease := w.await(t, l)
				other := latch(t, c, "/l")
				_, err := other.Await(recipetest.Within(t, time.Second))
				require.NotErrorIs(t, err, tc.want, "that is over")
				require.NoError(t, lease.Context().Err())
				w.closeAll(t, "/l", other, l)
			})
		})
	}
}

// Every server refuses these credentials. The error does not go away with time,
// so it ends the candidacy.
func TestRefusedCredentialsEndACandidacy(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.Fake.Inject(zktest.Rule{Op: zktest.OpAuth, Times: -1, Do: zktest.Fail(zktest.ErrAuthFailed)})
		c, err := framework.New(w.Addr, framework.WithDialer(w.Dial), framework.WithAuth("digest", []byte("a:b")))
		require.NoError(t, err)
		defer c.Close()
		l := leader.NewLatch(c, "/l")
		require.NoError(t, l.Start())
		_, err = l.Await(recipetest.Within(t, time.Minute))
		require.ErrorIs(t, err, zk.ErrAuthFailed)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "it says so at once")
		require.ErrorIs(t, l.Err(), zk.ErrAuthFailed)
		<-l.Done()
	})
}
