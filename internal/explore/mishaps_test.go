package explore

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// alone is a scenario with one actor.
func alone(play func(w *World, a *Actor)) Scenario {
	return func(w *World) {
		w.Actor("A", func(a *Actor) { play(w, a) })
	}
}

// What an actor finds wrong when a run has failed, and is about to end, is no failure.
func TestNothingFailsBehindAFailure(t *testing.T) {
	s := alone(func(w *World, a *Actor) {
		w.Fail("first")
		_ = a.Call("wait", func(ctx context.Context) error {
			<-ctx.Done()
			w.Fail("second")
			return ctx.Err()
		})
	})
	if workFor(t, s) {
		t.Skip("this process is a worker")
	}
	c := newCrew(t, 1)
	defer c.close()
	require.Equal(t, "first", c.playOne(nil).Failure)
}

// Whatever a run does wrong is the failure of the natural course.
func TestMishaps(t *testing.T) {
	for _, c := range []struct {
		name string
		want string
		s    Scenario
	}{
		{"a panic", "the worker process has ended", alone(func(*World, *Actor) { panic("by the scenario") })},
		{"a goroutine is left", "blocked goroutines remain", alone(func(*World, *Actor) {
			go func() { select {} }()
		})},
		{"an actor waits for ever", "still waiting after 2m0s: A (nobody)", alone(func(_ *World, a *Actor) {
			_ = a.Call("nobody", func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
		})},
		{"a node is left", "ephemeral node /n", alone(func(_ *World, a *Actor) {
			_, _ = a.Client().Create(t.Context(), "/n", nil, framework.WithMode(framework.Ephemeral))
		})},
		{"the scenario fails it", "by hand", alone(func(w *World, _ *Actor) { w.Fail("by %s", "hand") })},
		{"a check fails at the end", "at the end: no /n", func(w *World) {
			w.AtEnd(func(tree Tree) error {
				if _, there := tree["/n"]; there {
					return nil
				}
				return errors.New("no /n")
			})
		}},
		{"a watch is left", "a watch at /nobody", alone(func(_ *World, a *Actor) {
			_, _, _, _ = a.Client().ExistsW(context.Background(), "/nobody")
		})},
		{"a watch is left at a member", "a watch at /nobody", func(w *World) {
			w.Ensemble(3)
			w.Actor("A", func(a *Actor) { _, _, _, _ = a.Client().ExistsW(context.Background(), "/nobody") })
		}},
		{"a session is left at a member", "1 sessions belong to no client", func(w *World) {
			w.Ensemble(3)
			w.Actor("A", func(a *Actor) { leaveASession(t, w) })
		}},
		{"two are inside", "A and A are in s at once", func(w *World) {
			s := w.Section("s", 1)
			w.Actor("A", func(a *Actor) {
				defer s.Enter(a, t.Context(), 0)()
				defer s.Enter(a, t.Context(), 0)()
			})
		}},
		{"a token is old", "A enters s with token 4 after token 5", func(w *World) {
			s := w.Section("s", 1)
			w.Actor("A", func(a *Actor) {
				s.Enter(a, t.Context(), 5)()
				s.Enter(a, t.Context(), 4)()
			})
		}},
		{"a lease ends for no reason", "the lease of A has ended in peace", func(w *World) {
			s := w.Section("s", 1)
			w.Actor("A", func(a *Actor) {
				lease, end := context.WithCancel(t.Context())
				leave := s.Enter(a, lease, 0)
				end()
				leave()
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := find(t, c.s, Limits{Workers: 1})
			require.NotNil(t, f)
			require.Contains(t, f.result.Failure, c.want)
			require.NotEmpty(t, f.result.Story)
		})
	}
}

// A run that goes round and round is stopped, and its goroutines are named.
func TestARunWithoutAnEnd(t *testing.T) {
	s := alone(func(*World, *Actor) {
		for {
			runtime.Gosched()
		}
	})
	if workFor(t, s) {
		t.Skip("this process is a worker")
	}
	c := newCrew(t, 1)
	c.longestRun = time.Second
	defer c.close()
	r := c.playOne(nil)
	story := strings.Join(r.Story, "\n")
	require.Contains(t, story, "the run does not end")
	require.Contains(t, story, "TestARunWithoutAnEnd")
}

// A call that hides why it has ended is found with one deviation.
func TestACauseThatIsHidden(t *testing.T) {
	_, f := find(t, alone(func(_ *World, a *Actor) {
		_ = a.Call("read", func(ctx context.Context) error {
			if _, _, err := a.Client().Get(ctx, "/"); err != nil {
				return errors.New("it went wrong")
			}
			return nil
		})
	}), Limits{Deviations: 1, Workers: 1})
	require.NotNil(t, f)
	require.Contains(t, f.result.Failure, "does not say why it has ended: it went wrong")
	require.Len(t, f.choices, 1)
}

// A call that goes on when its client is closed is found with one deviation.
func TestACallThatDoesNotNoticeTheEndOfItsClient(t *testing.T) {
	_, f := find(t, alone(func(_ *World, a *Actor) {
		_ = a.Call("works", func(ctx context.Context) error {
			select {
			case <-time.After(10 * time.Second):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}), Limits{Deviations: 1, Workers: 1})
	require.NotNil(t, f)
	require.Contains(t, f.result.Failure, "works does not return, though the client is closed")
	require.Len(t, f.choices, 1)
}

// leaveASession begins a session and does not end it.
func leaveASession(t *testing.T, w *World) {
	host := w.newHost()
	client, err := framework.Connect(t.Context(), w.address(0),
		framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(time.Minute))
	require.NoError(t, err)
	host.Isolate()
	require.NoError(t, client.Close())
}
