package barriers_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// world is the server that a scenario runs on, fake or real.
type world struct{ *recipetest.World }

// onFakeAndReal runs a scenario on zktest in virtual time, and on a real
// server.
func onFakeAndReal(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

func inVirtualTime(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

// clients returns n clients with separate sessions.
func (w *world) clients(t *testing.T, n int) (all []*framework.Client) {
	t.Helper()
	for range n {
		c, _ := w.Connect(t)
		all = append(all, c)
	}
	return all
}

// entering is an Enter that is under way.
type entering struct {
	passage *barriers.Passage // set when it is over, like err
	err     error
	done    chan struct{}
}

func enterLater(ctx context.Context, b *barriers.DoubleBarrier) *entering {
	e := &entering{done: make(chan struct{})}
	go func() {
		defer close(e.done)
		e.passage, e.err = b.Enter(ctx)
	}()
	return e
}

// wait waits for the passage.
func (e *entering) wait(t *testing.T) *barriers.Passage {
	t.Helper()
	<-e.done
	require.NoError(t, e.err)
	return e.passage
}

func (e *entering) isOver() bool { return recipetest.IsClosed(e.done) }

// enterAll enters with a client each, in this order, and returns the passages.
func (w *world) enterAll(t *testing.T, path string, clients []*framework.Client) (all []*barriers.Passage) {
	t.Helper()
	var pending []*entering
	for _, c := range clients {
		pending = append(pending, enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, path, len(clients))))
		if w.Fake != nil {
			settle()
		}
	}
	for _, p := range pending {
		all = append(all, p.wait(t))
	}
	return all
}

// leaving is a Leave that is under way.
type leaving struct {
	err  error // set when it is over
	done chan struct{}
}

func leaveLater(ctx context.Context, p *barriers.Passage) *leaving {
	l := &leaving{done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.err = p.Leave(ctx)
	}()
	return l
}

func (l *leaving) isOver() bool { return recipetest.IsClosed(l.done) }

// leaveAll leaves with all passages.
func (w *world) leaveAll(t *testing.T, passages []*barriers.Passage) {
	t.Helper()
	var all []*leaving
	for _, p := range passages {
		all = append(all, leaveLater(w.Patience(t), p))
	}
	for _, l := range all {
		<-l.done
		require.NoError(t, l.err)
	}
}

// settle lets a little virtual time pass. It is shorter than what a member
// waits before it watches its own node.
func settle() {
	time.Sleep(10 * time.Millisecond)
	synctest.Wait()
}
