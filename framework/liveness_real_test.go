//go:build real

package framework_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
)

// holding is an ephemeral node of a client that is kept to one server, and how
// others see it.
type holding struct {
	name string
	ctx  context.Context // of the session
	gone *framework.Watch
}

// hold makes a client on a server, kept to it, and its node. Another client
// watches that.
func hold(t *testing.T, e *zkserver.Ensemble, on *zkserver.Server, other *framework.Client, name string, opts ...framework.Option) holding {
	t.Helper()
	ctx := within(t, stuck)
	c, board := connectedTo(t, e, on, opts...)
	board.keepTo(on.Addr())
	n, err := c.Create(ctx, "/"+name, nil, framework.WithMode(framework.Ephemeral))
	require.NoError(t, err)
	require.NoError(t, other.Sync(ctx, "/"))
	there, _, w, err := other.ExistsW(ctx, n.Path)
	require.NoError(t, err)
	require.True(t, there)
	return holding{name, n.Session.Context(), w}
}

// outcome is when the node was gone and when the session was given up. Only
// their difference means anything.
type outcome struct{ given, ended time.Time }

// outcomes waits for both of every holding.
func outcomes(t *testing.T, holdings ...holding) map[string]outcome {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	found := map[string]outcome{}
	note := func(name string, done <-chan struct{}, set func(*outcome)) {
		all.Go(func() {
			select {
			case <-done:
			case <-time.After(stuck):
				t.Error(name, "waits for ever")
			}
			mu.Lock()
			defer mu.Unlock()
			o := found[name]
			set(&o)
			found[name] = o
		})
	}
	for _, h := range holdings {
		note(h.name, h.gone.Done(), func(o *outcome) { o.given = time.Now() })
		note(h.name, h.ctx.Done(), func(o *outcome) { o.ended = time.Now() })
	}
	all.Wait()
	for name, o := range found {
		t.Logf("%s: the session ended %v after the node was given away", name, o.ended.Sub(o.given))
	}
	return found
}

// restartAtOnce restarts servers together: one alone is no majority.
func restartAtOnce(t *testing.T, servers []*zkserver.Server) {
	t.Helper()
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() {
			if err := s.Restart(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A leader that is cut off from its followers answers its clients for
// syncLimit, syncs too. The followers may have another leader long before, here
// because they are restarted.
func TestRealEnsembleStrictContactEndsTheSessionOfADeposedLeaderInTime(t *testing.T) {
	t.Parallel()
	const timeout = 18 * time.Second
	e := borrowEnsemble(t, contactLane, patient)
	old, _ := roles(t, e)
	var followers []*zkserver.Server
	for _, s := range e.Members() {
		if s != old {
			followers = append(followers, s)
		}
	}
	other, board := connectedTo(t, e, followers[0])
	board.forbid(old.Addr())
	session := framework.WithSessionTimeout(timeout)
	strict := hold(t, e, old, other, "strict", session, framework.WithStrictContact(), framework.WithSafetyMargin(0.25))
	trusting := hold(t, e, old, other, "default", session)
	select { // a healthy session lives on
	case <-strict.ctx.Done():
		t.Fatal(context.Cause(strict.ctx))
	case <-time.After(timeout):
	}

	require.NoError(t, e.Partition(old))
	restartAtOnce(t, followers)
	found := outcomes(t, strict)
	require.True(t, found["strict"].ended.Before(found["strict"].given), "the next leader has given the node away while the session was trusted")
	_, err := trusting.gone.Wait(within(t, stuck))
	require.NoError(t, err)
	require.NoError(t, trusting.ctx.Err(), "else strict contact is for nothing")
}
