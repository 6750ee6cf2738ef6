package queue

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/testing/zktest"
)

// A turn that was idle is lost while a reader takes it over. The node is gone, and no
// error names it as the holder.
func TestTurnThatIsLostWhileItIsTakenOverIsNoHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		node, err := c.Create(t.Context(), "/n", nil, framework.WithMode(framework.Ephemeral))
		require.NoError(t, err)
		held := claim.New(claim.Terms{Client: c, Key: "key"}, node)
		q := newLocalQueue(&queueSet{}, &localKey{})
		q.used = 1
		lost := &turn{queue: q, of: &Queue{}, claim: held, node: "n", n: 1, shared: q.noteShared(holdingOf(held))}
		held.Occupy(lost)
		require.Equal(t, "n", q.standing().Holder)
		require.NoError(t, srv.Delete("/n"))
		held.Watch()
		synctest.Wait()
		require.Equal(t, claim.Lost, held.State())
		require.Zero(t, q.standing())
		q.resume(lost, &Queue{})
		require.Zero(t, q.standing())
		require.Nil(t, q.joint)
	})
}

// An idle turn is being given up, and has its place still. Another reader, with a
// node of its own, leaves. Who comes waits for the idle turn.
//
// Promise: An idle shared node keeps its place until its release has ended.
func TestIdleTurnStaysUntilItHasFreedItsOwnPlace(t *testing.T) {
	q := newLocalQueue(&queueSet{}, &localKey{node: cachedNode{readers: true}})
	for range 3 {
		_, _, ok := q.add(arrival{shared: true})
		require.True(t, ok)
		q.entered(true)
	}
	ending := &turn{queue: q, ending: true}
	q.idle = ending
	q.leave(true, &turn{queue: q})
	w, _, _ := q.add(arrival{})
	require.Same(t, ending, w.idle)
	q.leave(true, ending)
	w, _, ok := q.add(arrival{})
	require.True(t, ok)
	require.Nil(t, w, "there is a place")
}
