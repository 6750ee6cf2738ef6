//go:build real

package interop_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/barriers"
)

// Waiters of either language wait for a barrier that the other one has raised,
// bound to a session or not, until either language lowers it.
func TestLanguagesWaitForTheSameBarrier(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		path := lockPath(t)
		java := startPeer(t, srv.addr, longSession)
		ours := barriers.NewBarrier(srv.connect(t, longSession), path)
		ctx := withDeadline(t)
		for _, opts := range [][]barriers.RaiseOption{nil, {barriers.WithSession()}} {
			_, err := ours.Raise(ctx, opts...)
			require.NoError(t, err)
			java.timesOut(t, "barrier", "wait", path, shortWaitMs)
			waits := waitInJava(ctx, java, path)
			srv.waitWatched(t, path, true)
			require.Empty(t, waits)
			require.NoError(t, ours.Lower(ctx))
			require.NoError(t, <-waits)
		}

		java.must(t, "barrier", "raise", path)
		var raised *barriers.RaisedError
		// On a busy machine, even the first read may take longer than a short wait.
		for wait := shortWaitMs * time.Millisecond; raised == nil; wait *= 2 {
			require.NoError(t, ctx.Err())
			short, cancel := context.WithTimeout(ctx, wait)
			err := ours.Wait(short)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			errors.As(err, &raised)
		}
		require.NotEmpty(t, raised.Raised.By.Foreign, "Java writes its address")
		again, err := ours.Raise(ctx)
		require.NoError(t, err)
		require.Equal(t, raised.Raised.Czxid, again.Czxid)
		waits := make(chan error, 1)
		go func() { waits <- ours.Wait(ctx) }()
		srv.waitWatched(t, path, true)
		java.must(t, "barrier", "lower", path)
		require.NoError(t, <-waits)

		_, err = ours.Raise(ctx)
		require.NoError(t, err)
		java.must(t, "barrier", "lower", path)
		require.NoError(t, ours.Wait(ctx))
	})
}

func waitInJava(ctx context.Context, java *peer, path string) chan error {
	waits := make(chan error, 1)
	go func() {
		_, err := java.ask(ctx, "barrier", "wait", path, waitLimitMs)
		waits <- err
	}()
	return waits
}

// doubleMember enters and leaves a double barrier.
type doubleMember interface {
	enter(ctx context.Context) error
	leave(ctx context.Context) error
}

type goMember struct {
	barrier *barriers.DoubleBarrier
	passage *barriers.Passage
}

func (m *goMember) enter(ctx context.Context) (err error) {
	m.passage, err = m.barrier.Enter(ctx)
	return err
}

func (m *goMember) leave(ctx context.Context) error { return m.passage.Leave(ctx) }

type javaMember struct {
	*peer
	path, name string
	n          int
}

func (m *javaMember) enter(ctx context.Context) error { return m.barrier(ctx, "enter") }
func (m *javaMember) leave(ctx context.Context) error { return m.barrier(ctx, "leave") }

func (m *javaMember) barrier(ctx context.Context, verb string) error {
	_, err := m.ask(ctx, "barrier", verb, m.path, m.name, m.n, waitLimitMs)
	return err
}

// Members of both languages enter together, and leave together, whichever comes
// last, in one round after the other.
func TestLanguagesMeetAtADoubleBarrier(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		path := lockPath(t)
		const n = 4
		var members []doubleMember
		for i := range n / 2 {
			members = append(members,
				&goMember{barrier: barriers.NewDoubleBarrier(srv.connect(t, longSession), path, n)},
				&javaMember{peer: startPeer(t, srv.addr, longSession), path: path, name: fmt.Sprint("m", i), n: n})
		}
		ctx := withDeadline(t)
		for round := range n {
			members = append(members[1:], members[0]) // another one is the first, and another the last
			passed := make(chan error, n)
			for i, m := range members {
				go func() { passed <- m.enter(ctx) }()
				if i < n-1 {
					srv.waitNodes(t, path, i+1)
					require.Empty(t, passed, "round %d", round)
				}
			}
			for range members {
				require.NoError(t, <-passed)
			}
			srv.waitNodes(t, path, n+1) // and "ready"
			left := make(chan error, n)
			for i, m := range members {
				go func() { left <- m.leave(ctx) }()
				if i < n-1 {
					time.Sleep(shortWaitMs * time.Millisecond)
					require.Empty(t, left, "round %d", round)
				}
			}
			for range members {
				require.NoError(t, <-left)
			}
			srv.waitNodes(t, path, 0)
		}
	})
}
