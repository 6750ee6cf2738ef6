package shared_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// faultOver is when what was delayed or is being resolved has come to an end.
const faultOver = 70 * time.Second

// A fault hits one request, whichever it is: of the first read, a TrySet, a
// Set, a Refresh, of what follows a change, a deletion, and the loss of a
// session. Each write returns the truth, and the Value sees every last state.
// When it is closed, nothing is left but the node.
func TestFaultAtEveryRequest(t *testing.T) {
	for _, fault := range recipetest.RequestFaults {
		t.Run(fault.Name, func(t *testing.T) {
			recipetest.EachRequest(t, 12, func(t *testing.T, i int) (hit bool) {
				inVirtualTime(t, func(t *testing.T, w *world) { hit = w.faultAt(t, fault, i) })
				return hit
			})
		})
	}
}

// faultAt lets the life of a Value run into a fault at its i-th request. It
// reports whether there was such a request.
func (w *world) faultAt(t *testing.T, fault recipetest.RequestFault, i int) (hit bool) {
	host := w.Fake.NewHost()
	c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(w.Session))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.WaitConnected(w.Patience(t)))
	injected := w.Fake.Inject(zktest.Rule{Path: "/n", After: i, Do: fault.On(w.Fake)})

	n := w.count(t, c, "/n", 7)
	w.settlesAt(t, n, 7)
	w.tries(t, n, 1)
	require.NoError(t, w.Fake.Set("/n", bytesOf(2)))
	w.settlesAt(t, n, 2)
	if err := n.Set(w.Patience(t), 3); err == nil {
		w.settlesAt(t, n, 3)
	} else {
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
	}
	_ = w.Fake.Delete("/n")
	w.awaitAbsent(t, n)
	w.tries(t, n, 4)
	if _, there := w.Fake.Node("/n"); !there {
		require.NoError(t, w.Fake.Create("/n", nil))
	}
	host.LoseSessions()
	require.NoError(t, w.Fake.Set("/n", bytesOf(5)))
	w.settlesAt(t, n, 5)
	now, err := n.Refresh(w.Patience(t))
	if err == nil {
		require.Equal(t, int32(5), now.Value)
	}
	require.NoError(t, n.Err())
	require.NoError(t, n.Close())
	if fault.Name == recipetest.RefusedRequest.Name { // it may have refused to withdraw the watch, which ends with the session then
		require.NoError(t, c.Close())
	}
	w.NoWatches(t)
	return injected.Hits() > 0
}

// settlesAt requires that a Value has what the server has, and that it stays so
// until no fault is under way any more.
func (w *world) settlesAt(t *testing.T, n *shared.Count, want int32) {
	t.Helper()
	w.await(t, n, want)
	time.Sleep(faultOver)
	require.Equal(t, want, get(t, n).Value)
	require.Equal(t, want, w.onServer(t, "/n"))
}

// tries requires that a TrySet, in whose way nobody is, tells the truth.
func (w *world) tries(t *testing.T, n *shared.Count, value int32) {
	t.Helper()
	previous := get(t, n)
	now, ok, err := n.TrySet(w.Patience(t), previous, value)
	if err == nil {
		require.True(t, ok)
		require.Equal(t, value, now.Value)
		require.Equal(t, now, get(t, n), "what was written can be read")
		w.settlesAt(t, n, value)
		return
	}
	require.False(t, ok)
	time.Sleep(faultOver)
	node, there := w.Fake.Node("/n")
	changed := there != previous.Exists || there && node.Stat.Mzxid != previous.Mzxid
	if !errors.Is(err, framework.ErrOutcomeUnknown) {
		require.False(t, changed, "%v, and it was applied", err)
		t.Fatalf("a TrySet has failed for no reason: %v", err)
	}
	seen := get(t, n)
	require.Equal(t, there, seen.Exists)
	require.Equal(t, node.Stat.Mzxid, seen.Mzxid)
}
