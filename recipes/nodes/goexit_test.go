package nodes_test

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// noReturn is in the error of what did not return.
const noReturn = "has ended its goroutine"

// exiting is a log handler that ends the goroutines that ask it, while it is
// armed.
type exiting struct {
	slog.Handler
	armed atomic.Bool
	ended atomic.Int32
}

func (e *exiting) Enabled(context.Context, slog.Level) bool {
	if e.armed.Load() {
		e.ended.Add(1)
		runtime.Goexit()
	}
	return false
}

func (w *world) connectExiting(t *testing.T) (*framework.Client, *exiting) {
	log := &exiting{Handler: slog.DiscardHandler}
	c, _ := w.Connect(t, framework.WithLogger(slog.New(log)))
	return c, log
}

// The log handler ends the goroutine of a persistent node that ends by itself,
// and each one that tells of that. The node is deleted all the same.
func TestLogHandlerThatEndsGoroutinesLeavesNoNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, log := w.connectExiting(t)
		n, seen := startFollowed(t, c, "/a", "data")
		w.ready(t, n)
		log.armed.Store(true)
		require.NoError(t, w.Fake.Set("/a", []byte("of somebody else"))) // the log has a line
		<-n.Done()
		require.NoError(t, n.Shutdown(w.Patience(t)))
		require.EqualValues(t, 2, log.ended.Load(), "the line of the foreign write, and of the end")
		log.armed.Store(false)
		require.Equal(t, "-", w.dataOf("/a"))
		require.ErrorContains(t, n.Err(), noReturn)
		synctest.Wait()
		require.Equal(t, nodes.Ended, seen()[len(seen())-1].State)
	})
}

// The log handler ends the goroutine that deletes the node. Shutdown says that
// the node may still be there, and the path is free.
func TestLogHandlerThatEndsADeletionIsAnErrorOfShutdown(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, log := w.connectExiting(t)
		n := start(t, c, "/a", "data")
		w.ready(t, n)
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Path: "/a", Times: -1, Do: zktest.Fail(zktest.ErrSystem)})
		log.armed.Store(true)
		err := n.Shutdown(w.Patience(t))
		require.EqualValues(t, 1, log.ended.Load(), "the line of the trouble")
		log.armed.Store(false)
		trouble.Remove()
		require.ErrorContains(t, err, noReturn)
		require.Equal(t, "data", w.dataOf("/a"))
		require.ErrorContains(t, n.Shutdown(w.Patience(t)), noReturn)
		w.ready(t, start(t, c, "/a", "again"))
	})
}

// exitingReads ends the goroutines that ask for one of the paths.
type exitingReads []string

func (e exitingReads) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	if slices.Contains(e, op.Path) {
		runtime.Goexit()
	}
	return ctx
}

func (e exitingReads) EndOperation(context.Context, clienttrace.OperationEnd) {}

// A hook ends the goroutine that reads a member. Nobody knows of the member, and
// so there is no list.
func TestMemberWhoseReadDoesNotReturnIsNotGone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for _, path := range []string{"/g", "/g/a", "/g/b"} {
			require.NoError(t, w.Fake.Create(path, nil))
		}
		c, _ := w.Connect(t, framework.WithHooks(exitingReads{"/g/a", "/g/b"}))
		g := nodes.NewGroup(c, "/g")
		_, err := g.Members(w.Patience(t))
		require.ErrorContains(t, err, noReturn)
		for _, err := range g.Changes(recipetest.Within(t, time.Minute)) {
			require.ErrorContains(t, err, noReturn)
		}
		require.Empty(t, w.Fake.Watches())
	})
}
