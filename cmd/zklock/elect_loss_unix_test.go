//go:build unix

package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locktrace"
)

// atGrant is a tracer that does something between the grant and the begin of
// the leader's work.
type atGrant struct {
	silent
	do func()
}

func (g atGrant) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, g
}

func (g atGrant) Ended(locktrace.AcquireEnd) { g.do() }

// silent is a tracer that does nothing.
type silent struct{}

func (silent) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context {
	return ctx
}
func (silent) EndOperation(context.Context, clienttrace.OperationEnd) {}
func (silent) ClientOpened(clienttrace.Client)                        {}
func (silent) ClientClosed(clienttrace.Client)                        {}
func (silent) StateChanged(clienttrace.StateChange)                   {}
func (silent) Trace() map[string]string                               { return nil }
func (silent) QueuedLocally(int)                                      {}
func (silent) Queued(locktrace.Queued)                                {}
func (silent) Waiting(locktrace.Waiting)                              {}
func (silent) Woken(bool)                                             {}
func (silent) Abandoned(error)                                        {}
func (silent) StartHold(locktrace.Hold) locktrace.HoldTracer          { return silentHold{} }

type silentHold struct{}

func (silentHold) Context(ctx context.Context) context.Context { return ctx }
func (silentHold) Reentered()                                  {}
func (silentHold) Revoked()                                    {}
func (silentHold) Ended(locktrace.HoldEnd)                     {}
func (silentHold) Overrun() func()                             { return func() {} }

// The leadership is lost before the command is started. That is a loss like any
// other: it has the status, and with --restart the program stands again.
func TestALossBeforeTheCommandIsALoss(t *testing.T) {
	srv := startServer(t)
	var c *framework.Client
	tracer := atGrant{do: func() {
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		require.True(t, srv.Session(c.SessionID()).Expire())
		<-s.Context().Done()
	}}
	c, err := framework.Connect(t.Context(), srv.Addr(), framework.WithHooks(tracer))
	require.NoError(t, err)
	defer c.Close()
	f := &electFlags{stop: defineStopping(&flag.FlagSet{})}
	set := defaults()
	require.NoError(t, f.stop.plan(set))
	file := filepath.Join(t.TempDir(), "started")
	g := &guarded{
		env:    &env{streams: streams{os.Stdin, os.Stdout, os.Stderr}, settings: set},
		client: c, path: "/el", kind: inspect.Mutex, args: []string{"touch", file}, stop: f.stop,
	}
	stopped, err := f.lead(t.Context(), g, make(chan os.Signal))
	require.False(t, stopped)
	require.Equal(t, lost, statusOf(err), "%v", err)
	require.True(t, mayRestart(err))
	require.EqualError(t, err, "lost /el: session lost: the server has ended it; the command was not started")
	require.NoFileExists(t, file)
}
