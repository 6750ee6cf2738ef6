package atomic_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// A caller that gives up says what the server's trouble was, whether the client
// or the recipe has tried again after it. What a request of the recipe's has
// left unknown says nothing about the call.
func TestCallerThatGivesUpNamesTheTrouble(t *testing.T) {
	const systemError = -1
	codes := map[string]int{"throttled": -127, "out of order": systemError}
	for name, rule := range map[string]zktest.Rule{
		"throttled":             {Op: zktest.OpGetData, Do: zktest.Fail(zktest.ErrThrottled)},
		"out of order":          {Op: zktest.OpGetData, Do: zktest.Fail(systemError)},
		"receipt in doubt":      {Op: zktest.OpCreate, Path: "/receipts/*", Do: zktest.Fail(systemError)},
		"server that hangs up":  {Op: zktest.OpGetData, Do: zktest.DropRequest()},
		"receipt, and hangs up": {Op: zktest.OpCreate, Path: "/receipts/*", Do: zktest.DropReply()},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				require.NoError(t, w.Fake.Create("/n", nil))
				rule.Times = -1
				trouble := w.Fake.Inject(rule)
				n := atomic.NewLong(c, "/n", atomic.WithReceipts("/receipts"))
				_, err := n.Add(recipetest.Within(t, 10*time.Second), 1)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorContains(t, err, "last error")
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
				if code := codes[name]; code != 0 {
					found, _ := framework.ServerCode(err)
					require.EqualValues(t, code, found, "%v", err)
				}
				trouble.Remove()
				time.Sleep(time.Minute)
				require.Empty(t, w.dataOf(t, "/n"))
			})
		})
	}
}

// A server was in trouble for long, and one caller has waited. When the server
// is well, that caller and those who come then wait for no more than the longest
// pause of an outage.
func TestNobodyWaitsForLongBehindATrouble(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create("/n", nil))
		n := atomic.NewLong(c, "/n")
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.Fail(-1)})
		first := make(chan error, 1)
		go func() {
			_, err := n.Add(t.Context(), 1)
			first <- err
		}()
		time.Sleep(5*time.Minute + 10*time.Second)
		trouble.Remove()
		now, err := n.Add(recipetest.Within(t, 6*time.Second), 1)
		require.NoError(t, err)
		require.EqualValues(t, 2, now)
		require.NoError(t, <-first)
	})
}

// Servers that refuse the client's credentials end every call at once: also one
// that waits in an outage. What was not sent is not applied.
func TestRefusedCredentialsEndCalls(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t, framework.WithAuth("digest", []byte("me:secret")))
		n := atomic.NewLong(c, "/n", atomic.WithReceipts("/receipts"))
		require.NoError(t, n.Store(w.Patience(t), 1))
		w.Stop()
		settle()
		waits := make(chan error, 1)
		go func() {
			_, err := n.Add(t.Context(), 1)
			waits <- err
		}()
		time.Sleep(time.Hour)
		refusal := w.Fake.Inject(zktest.Rule{Op: zktest.OpAuth, Times: -1, Do: zktest.Fail(zktest.ErrAuthFailed)})
		w.Start()
		err := <-waits
		require.ErrorIs(t, err, zk.ErrAuthFailed)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		_, err = n.Load(t.Context())
		require.ErrorIs(t, err, zk.ErrAuthFailed)
		_, err = n.Add(t.Context(), 1)
		require.ErrorIs(t, err, zk.ErrAuthFailed)

		refusal.Remove()
		for s := range c.States(w.Patience(t)) {
			if s.IsConnected() {
				break
			}
		}
		now, err := n.Add(w.Patience(t), 1)
		require.NoError(t, err)
		require.EqualValues(t, 2, now)
	})
}

// The servers delete an empty container above the node as soon as it is there,
// for longer than one create of the client tries.
func TestParentsThatVanishDoNotEndACall(t *testing.T) {
	for name, path := range map[string]string{"of the node": "/a/n", "of the receipt": "/receipts/*"} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: path, Times: 20, Do: zktest.Fail(zktest.ErrNoNode)})
				n := atomic.NewLong(c, "/a/n", atomic.WithReceipts("/receipts"))
				now, err := n.Add(recipetest.Within(t, time.Minute), 1)
				require.NoError(t, err)
				require.EqualValues(t, 1, now)
			})
		})
	}
}

// Trouble that one caller has outlasted is not that of a later one.
func TestCallerThatGivesUpDoesNotNameWhatIsOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create("/n", nil))
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Times: 2, Do: zktest.Fail(zktest.ErrSystem)})
		n := atomic.NewLong(c, "/n")
		_, err := n.Add(w.Patience(t), 1)
		require.NoError(t, err)
		require.Equal(t, 2, trouble.Hits())
		settle()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(2 * time.Second)})
		_, err = n.Add(recipetest.Within(t, time.Second), 1)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotContains(t, err.Error(), "last error")
	})
}
