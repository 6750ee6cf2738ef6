package nodes_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/nodes"
)

// noReturn is in the error of what did not return.
const noReturn = "has ended its goroutine"

// exitingReads ends the goroutines that ask for one path.
type exitingReads struct{ path string }

func (e exitingReads) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	if op.Path == e.path {
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
		c, _ := w.Connect(t, framework.WithHooks(exitingReads{path: "/g/a"}))
		g := nodes.NewGroup(c, "/g")
		_, err := g.Members(w.Patience(t))
		require.ErrorContains(t, err, noReturn)
		for _, err := range g.Changes(recipetest.Within(t, time.Minute)) {
			require.ErrorContains(t, err, noReturn)
		}
		require.Empty(t, w.Fake.Watches())
	})
}

// panickingReads panics where somebody asks for one path.
type panickingReads struct{ path string }

func (p panickingReads) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	if op.Path == p.path {
		panic(p.path)
	}
	return ctx
}

func (p panickingReads) EndOperation(context.Context, clienttrace.OperationEnd) {}

// A panic of a hook in the read of one member is the caller's. It leaves no watch
// on the members that were read at the same time.
func TestPanicInTheReadOfAMemberLeavesNoWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for _, path := range []string{"/g", "/g/a", "/g/b", "/g/c"} {
			require.NoError(t, w.Fake.Create(path, nil))
		}
		c, _ := w.Connect(t, framework.WithHooks(panickingReads{path: "/g/b"}))
		g := nodes.NewGroup(c, "/g")
		require.PanicsWithValue(t, "/g/b", func() {
			for range g.Changes(w.Patience(t)) {
			}
		})
		synctest.Wait()
		require.Empty(t, w.Fake.Watches())
	})
}
