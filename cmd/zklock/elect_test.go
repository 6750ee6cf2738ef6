package main

import (
	"context"
	"flag"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestTheNextLeadsWhenTheCommandHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		one := s.start(t, "elect", "--id", "one", "/el", "--", "cmd")
		two := s.start(t, "elect", "/el", "--id=two", "--", "cmd")
		require.Len(t, s.Children("/el"), 2)
		p := one.command()
		time.Sleep(time.Hour)
		require.Empty(t, two.commands)
		p.end(3)
		one.finish(3)
		p = two.command()
		require.Equal(t, "two", p.variable("ZKLOCK_ID"))
		p.end(1)
		two.finish(1)
	})
}

// With --restart, zklock stands again after a loss and after the command's end, and
// a signal ends it in any case. The command does not get the terminal by itself.
func TestElectStandsAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		r := s.start(t, "elect", "--restart", "/el", "cmd")
		p := r.command()
		require.True(t, p.Background)
		time.Sleep(time.Second)
		s.lose(t, "/el")
		require.Equal(t, []string{"TERM"}, p.heard())
		p.end(7)
		r.command().end(9)
		p = r.command()
		require.Equal(t, "zklock: queueing again: lost /el: lock node deleted by someone else; the command was stopped\n"+
			"zklock: queueing again: the command has ended with status 9\n", r.err.String())
		r.signal(syscall.SIGTERM)
		p.end(5)
		r.finish(5)

		r = s.start(t, "elect", "--restart", "/el", "cmd")
		r.command().end(0)
		synctest.Wait() // it pauses before it stands again
		r.signal(syscall.SIGINT)
		r.finish(bySignal + int(syscall.SIGINT))
	})
}

func TestElectObserves(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		r := s.start(t, "elect", "--observe", "/el")
		require.True(t, strings.HasSuffix(r.out.String(), " nobody leads\n"))
		err := leader.NewSelector(s.client(t), "/el", leader.WithID("worker-1")).Run(t.Context(), func(context.Context) error {
			synctest.Wait()
			require.Regexp(t, `\n\S+Z worker-1 leads with token [0-9]+\n$`, r.out.String())
			return nil
		})
		require.NoError(t, err)
		r.signal(syscall.SIGINT)
		r.finish(bySignal + int(syscall.SIGINT))
	})
}

func TestWaitTakesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		require.Zero(t, s.zklock(t, "wait", "/no/such/lock").status)
		_, release := s.hold(t, "/l")
		r := s.start(t, "wait", "/l")
		time.Sleep(time.Hour)
		require.Len(t, s.Children("/l"), 1)
		require.Empty(t, r.ended)
		release()
		r.finish(0)
	})
}

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
