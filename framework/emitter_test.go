package framework_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// gate is a hook and a log handler. Its calls block until it is opened.
type gate struct {
	slog.Handler
	opened chan struct{}
	closed bool // ClientClosed was called
}

func newGate(log *lockedBuffer) *gate {
	return &gate{Handler: slog.NewTextHandler(log, nil), opened: make(chan struct{})}
}

func (g *gate) StateChanged(clienttrace.StateChange) { <-g.opened }
func (g *gate) ClientClosed(clienttrace.Client)      { g.closed = true }

func (g *gate) Handle(ctx context.Context, line slog.Record) error {
	<-g.opened
	return g.Handler.Handle(ctx, line)
}

// Promise: A log handler or a state hook that blocks delays no session, and Close by a second at most.
func TestCallsOfTheEmitterThatBlock(t *testing.T) {
	for name, options := range map[string]func(g *gate) framework.Option{
		"log handler": func(g *gate) framework.Option { return framework.WithLogger(slog.New(g)) },
		"hook":        func(g *gate) framework.Option { return framework.WithHooks(g) },
	} {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				var log lockedBuffer
				g := newGate(&log)
				c := unclosed(t, srv, options(g))
				require.NoError(t, c.WaitConnected(t.Context()))
				mustCreate(t, c, "/n", "")
				session, err := c.Session(t.Context())
				require.NoError(t, err)
				begun := time.Now()
				srv.Session(session.ID()).Expire()
				srv.CutAll()
				<-session.Context().Done()
				_, _, err = c.Get(t.Context(), "/n")
				require.NoError(t, err)
				require.Less(t, time.Since(begun), sessionTimeout)

				require.Equal(t, time.Second, closing(t, c))
				require.Empty(t, srv.Sessions())
				require.False(t, g.closed)
				close(g.opened)
				synctest.Wait()
				require.Equal(t, name == "hook", g.closed, "the calls after the blocked one are not lost")
				require.Equal(t, name == "log handler", len(log.String()) > 0)
			})
		})
	}
}

// diary is a hook and a log handler, which writes down all calls in their order.
type diary struct {
	slog.Handler
	lines *[]string
}

func (d diary) StateChanged(change clienttrace.StateChange) {
	d.write("hook: " + change.State.String())
}
func (d diary) ClientClosed(clienttrace.Client) { d.write("hook: closed") }
func (d diary) write(line string)               { *d.lines = append(*d.lines, line) }

func (d diary) Handle(_ context.Context, line slog.Record) error {
	d.write("log: " + line.Message)
	return nil
}

// The emitter makes one call at a time, in the order of what has happened. A recipe's
// calls are among them. The end of the client is the last call that Close makes.
func TestTheEmitterKeepsTheOrder(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var lines []string // without a lock: the race detector sees calls at the same time
		d := diary{slog.NewTextHandler(nil, nil), &lines}
		c := unclosed(t, srv, framework.WithHooks(d), framework.WithLogger(slog.New(d)))
		require.NoError(t, c.WaitConnected(t.Context()))
		synctest.Wait()
		for i := range 3 {
			insider.Of(c).Emit(func() { d.write("recipe: " + string(rune('a'+i))) })
		}
		insider.Of(c).Emit(func() { insider.Of(c).Emit(func() { d.write("recipe: from the emitter") }) })
		synctest.Wait() // or Close might post its call before the emitter does
		require.NoError(t, c.Close())
		require.Equal(t, []string{
			"log: zookeeper connection state changed", "hook: " + state.Connected.String(),
			"recipe: a", "recipe: b", "recipe: c", "recipe: from the emitter", "hook: closed",
		}, lines)
	})
}

// closer is a hook that closes its client when the session begins.
type closer struct {
	close chan func() error // how
	calls []string
}

func (h *closer) StateChanged(change clienttrace.StateChange) {
	if change.State == state.Connected {
		(<-h.close)()
		h.calls = append(h.calls, "closed by the hook")
	}
}

func (h *closer) ClientClosed(clienttrace.Client) { h.calls = append(h.calls, "ClientClosed") }

// Close waits for the emitter, which waits for Close here. Another Close waits for the
// first one.
func TestHookOfTheEmitterClosesItsClient(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		h := &closer{close: make(chan func() error, 1)}
		c := unclosed(t, srv, framework.WithHooks(h))
		h.close <- c.Close
		begun := time.Now()
		_ = c.WaitConnected(t.Context())
		require.NoError(t, c.Close())
		require.LessOrEqual(t, time.Since(begun), 2*time.Second)
		synctest.Wait()
		require.Equal(t, []string{"closed by the hook", "ClientClosed"}, h.calls)
		require.Empty(t, srv.Sessions())
	})
}
