//go:build real

package leader_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// The leader's server is cut off from the other servers. The leader is cut off
// with it, because it knows no other server. Each kind of client then keeps its
// promise. The times count from the cut:
//
//   - With framework.WithStrictContact, the leadership is over before the
//     servers of the majority end its session, and with that before they let
//     anybody else lead.
//   - Without it, the cut-off server answers for recipetest.PeerTimeout, and
//     the leader believes it. The majority elects another one meanwhile, and
//     only the fencing token tells which of them leads. The old one stops when
//     its server hangs up, under the standard policy, or else nine tenths of
//     its session timeout after the last answer.
func TestLeaderInTheMinority(t *testing.T) {
	const session, slack = 6 * time.Second, 10 * time.Second
	w, e := newEnsembleWorld(t)
	majority, followers := w.Roles(t, e)
	minority := followers[0]
	transfers := map[string]*transfer{
		"strict contact":               {opts: []framework.Option{framework.WithStrictContact(), framework.WithSafetyMargin(0.25)}, cause: framework.ErrSessionLost},
		"any contact":                  {cause: framework.ErrSessionLost},
		"any contact, standard policy": {opts: []framework.Option{framework.WithErrorPolicy(state.StandardPolicy)}, cause: framework.ErrSuspended},
	}
	for _, p := range transfers {
		p.prepare(t, w, minority, majority, session)
	}
	cut := time.Now()
	require.NoError(t, e.Partition(minority))
	for name, p := range transfers {
		p.watching.Wait()
		require.NotNil(t, p.new, name)
		t.Logf("%s: steps down after %v, its node is gone after %v, the majority's leader begins after %v", name,
			p.stopped.Sub(cut), p.gone.Sub(cut), p.elected.Sub(cut))
		require.ErrorIs(t, context.Cause(p.old.Context()), p.cause, name)
		require.Greater(t, p.new.FencingToken(), p.old.FencingToken(), name)
	}
	require.True(t, transfers["strict contact"].overBeforeGone, "the majority must not be free to elect while the old one leads")
	require.False(t, transfers["any contact"].overBeforeGone, "this cut must be one that takes in those who believe any answer")
	require.Less(t, transfers["any contact"].stopped.Sub(cut), recipetest.PeerTimeout+session+slack)
	require.Less(t, transfers["any contact, standard policy"].stopped.Sub(cut), recipetest.PeerTimeout+slack)

	require.NoError(t, e.Heal())
	for name, p := range transfers {
		w.WaitNodes(t, p.path, 2) // the old leader stands again
		require.NoError(t, p.new.Context().Err(), name)
	}
}

// transfer records how a leadership passes from a client in the minority to one
// in the majority.
type transfer struct {
	opts  []framework.Option // of the client in the minority
	cause error              // of the old leadership's end

	path     string
	old      *locks.Lease
	watching sync.WaitGroup // the goroutines that write the following fields

	stopped, gone, elected time.Time
	overBeforeGone         bool // the old leadership was over before the majority deleted its node
	new                    *locks.Lease
}

// prepare makes both clients stand, and begins to watch what happens.
func (p *transfer) prepare(t *testing.T, w *world, minority, majority *zkserver.Server, session time.Duration) {
	ctx := w.Patience(t)
	p.path = recipetest.Path(t)
	p.old = w.await(t, latch(t, w.ConnectTo(t, minority, session, p.opts...), p.path))
	successor := latch(t, w.ConnectTo(t, majority, recipetest.LongSession), p.path)
	w.WaitNodes(t, p.path, 2)
	observer := w.ConnectTo(t, majority, recipetest.LongSession)
	require.NoError(t, observer.Sync(ctx, "/"))
	_, _, deletion, err := observer.GetW(ctx, p.old.Path())
	require.NoError(t, err)
	p.watching.Go(func() {
		deletion.Wait(ctx)
		p.overBeforeGone = p.old.Context().Err() != nil
		p.gone = time.Now()
	})
	p.watching.Go(func() {
		p.new, _ = successor.WaitLeadership(ctx)
		p.elected = time.Now()
	})
	p.watching.Go(func() {
		<-p.old.Context().Done() // it ends with the test at the latest
		p.stopped = time.Now()
	})
}

// The test restarts all three servers, one after the other. No leadership and
// no leader's work is interrupted.
func TestLeadersOutliveARollingRestart(t *testing.T) {
	w, e := newEnsembleWorld(t)
	latchPath, selectorPath, exclusive := recipetest.Path(t), recipetest.Path(t), locktest.NewExclusive(t)
	var latches []*leader.Latch
	var selectors []*leaderships
	for i, srv := range e.Members() {
		c := w.ConnectFirstTo(t, srv)
		latches = append(latches, latch(t, c, latchPath))
		selectors = append(selectors, runSelector(t, c, selectorPath, exclusive))
		w.WaitNodes(t, latchPath, i+1)
		w.WaitNodes(t, selectorPath, i+1)
	}
	leading, working := w.await(t, latches[0]), selectors[0].begins(t, w)

	for _, srv := range e.Members() {
		require.NoError(t, srv.Restart())
		w.Roles(t, e)
	}
	require.NoError(t, w.Observer.Sync(w.Patience(t), "/"))
	require.Len(t, w.Nodes(t, latchPath), 3)
	require.Len(t, w.Nodes(t, selectorPath), 3)
	require.NoError(t, leading.Context().Err())
	require.Same(t, leading, latches[0].Leadership())
	require.NoError(t, working.Context().Err())
	require.Empty(t, selectors[0].ended)
	for i := range 2 { // the next in line can still lead
		require.NoError(t, latches[i].Shutdown(w.Patience(t)))
		next := w.await(t, latches[i+1])
		require.Greater(t, next.FencingToken(), leading.FencingToken())
	}
}

// Curator: TestLeaderLatch#testGetChildrenHitsNoNode (CURATOR-724). The
// ensemble loses all its data, including the parent of the candidates' nodes,
// and refuses their sessions. The candidates stand again in new sessions by
// themselves.
//
// Servers that know nothing of the old sessions do not wait for the end of
// those. So one candidate may lead while another still believes that it leads.
// The test asks nothing about that. Fencing tokens start again, too: a resource
// that remembers the largest token has to be told that the data was lost.
func TestLeadersOutliveTheirEnsemblesData(t *testing.T) {
	w, e := newEnsembleWorld(t)
	latchPath, selectorPath := recipetest.Path(t), recipetest.Path(t)
	w.Session = 2 * recipetest.ShortSession
	var latches []*leader.Latch
	var selectors []*leaderships
	for i := range 2 {
		c, _ := w.Connect(t)
		latches = append(latches, latch(t, c, latchPath))
		selectors = append(selectors, runSelector(t, c, selectorPath, locktest.NewExclusive(t)))
		w.WaitNodes(t, latchPath, i+1)
		w.WaitNodes(t, selectorPath, i+1)
	}
	leading, working := w.await(t, latches[0]), selectors[0].begins(t, w)

	for _, srv := range e.Members() {
		require.NoError(t, srv.Kill())
	}
	for _, srv := range e.Members() {
		require.NoError(t, srv.Wipe())
	}
	require.NoError(t, e.Restart())
	<-leading.Context().Done()
	require.ErrorIs(t, context.Cause(leading.Context()), framework.ErrSessionLost)
	require.ErrorIs(t, <-selectors[0].ended, framework.ErrSessionLost)
	require.ErrorIs(t, context.Cause(working.Context()), framework.ErrSessionLost)

	w.Observer, _ = w.Connect(t)
	w.WaitNodes(t, latchPath, 2)
	w.WaitNodes(t, selectorPath, 2)
	who, _ := w.awaitAny(t, latches...)
	require.Nil(t, latches[1-who].Leadership())
	anyOf(t, w, selectors)
	require.Empty(t, selectors[0].began)
	require.Empty(t, selectors[1].began, "one of them leads")
}

// anyOf waits for a leadership of either of two selectors.
func anyOf(t *testing.T, w *world, selectors []*leaderships) {
	t.Helper()
	select {
	case <-selectors[0].began:
	case <-selectors[1].began:
	case <-w.Patience(t).Done():
		require.Fail(t, "no leadership has begun")
	}
}
