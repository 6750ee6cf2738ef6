package main

import (
	"context"
	"flag"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
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
	inBubble(t, func(t *testing.T) {
		srv := zktest.Start(t)
		var c *framework.Client
		c = curatortest.Connect(t, srv, framework.WithHooks(atGrant{do: func() {
			s, err := c.Session(t.Context())
			require.NoError(t, err)
			require.True(t, srv.Session(c.SessionID()).Expire())
			<-s.Context().Done()
		}}))
		f := &electFlags{stop: defineStopping(&flag.FlagSet{})}
		set := defaults()
		require.NoError(t, f.stop.plan(set))
		e := &env{streams: streams{nil, io.Discard, io.Discard}, settings: set} // it cannot start a command
		g := &guarded{env: e, client: c, path: "/el", kind: inspect.Mutex, args: []string{"cmd"}, stop: f.stop}
		stopped, err := f.lead(t.Context(), g, make(chan os.Signal))
		require.False(t, stopped)
		require.Equal(t, lost, statusOf(err), "%v", err)
		require.True(t, mayRestart(err))
		require.EqualError(t, err, "lost /el: session lost: the server has ended it; the command was not started")
	})
}
