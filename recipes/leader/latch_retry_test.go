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
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
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
			_, err := l.WaitLeadership(recipetest.Within(t, 10*time.Minute))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, &framework.ServerError{Code: int32(code)}, "%v", err)
			require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
			require.ErrorContains(t, err, "wait leadership /l: context deadline exceeded (last error: create /l/latch-: ")
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
					_, err := l.WaitLeadership(recipetest.Within(t, wait))
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.ErrorIs(t, err, tc.want, "%v", wait)
				}
				trouble.Remove()
				lease := w.await(t, l)
				other := latch(t, c, "/l")
				_, err := other.WaitLeadership(recipetest.Within(t, time.Second))
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
		l, err := leader.NewLatch(c, "/l")
		require.NoError(t, err)
		_, err = l.WaitLeadership(recipetest.Within(t, time.Minute))
		require.ErrorIs(t, err, zk.ErrAuthFailed)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "it says so at once")
		require.ErrorIs(t, l.Err(), zk.ErrAuthFailed)
		<-l.Done()
	})
}

// namesOthers reports whether an Await in vain blames those ahead.
func namesOthers(t *testing.T, l *leader.Latch) bool {
	t.Helper()
	_, err := l.WaitLeadership(recipetest.Within(t, time.Second))
	var others *locks.NotAcquiredError
	return reason.As(err, &others)
}

// The node of a candidate is deleted, and the server refuses another one for a
// while. Nobody is ahead of a candidate that is not in the queue: the trouble is
// what it waits for.
func TestCandidateInTroubleForgetsWhoWasAhead(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first, second, lease, _ := w.leaderAndNext(t, "/l")
		require.True(t, namesOthers(t, second))
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.Fail(zktest.ErrSystem)})
		for _, name := range w.Nodes(t, "/l") {
			if path := "/l/" + name; path != lease.Path() {
				require.NoError(t, w.Fake.Delete(path))
			}
		}
		time.Sleep(time.Second)
		require.False(t, namesOthers(t, second))
		trouble.Remove()
		time.Sleep(time.Minute)
		require.True(t, namesOthers(t, second))
		w.closeAll(t, "/l", second, first)
	})
}

// Trouble is over when the candidate waits in the queue: those ahead are what it
// waits for.
func TestAwaitInVainForgetsWhatIsOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first := latch(t, w.Observer, "/l")
		w.await(t, first)
		c, _ := w.Connect(t)
		trouble := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpCreate, Times: 2, Do: zktest.Fail(zktest.ErrThrottled)})
		second := latch(t, c, "/l")
		_, err := second.WaitLeadership(recipetest.Within(t, time.Minute))
		require.Equal(t, 2, trouble.Hits())
		require.ErrorContains(t, err, "not acquired: 1 ahead")
		_, isAnswer := framework.ServerCode(err)
		require.False(t, isAnswer, "%v", err)
		w.closeAll(t, "/l", second, first)
	})
}
