package main

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/leader"
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
		require.Equal(t, "zklock: standing again: lost /el: lock node deleted by someone else; the command was stopped\n"+
			"zklock: standing again: the command has ended with status 9\n", r.err.String())
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
