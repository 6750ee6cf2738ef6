package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/cmd/zklock/internal/terminal"
	"github.com/gocurator/curator/recipes/inspect"
)

// The kill comes before the end of the session, whatever the server grants.
func TestTheGraceFitsIntoTheMargin(t *testing.T) {
	for _, timeout := range []time.Duration{2 * time.Second, 4 * time.Second, 10 * time.Second, time.Minute} {
		for _, grace := range []time.Duration{-1, 0, time.Second / 2} {
			for _, granted := range []time.Duration{0, time.Second, timeout, 2 * timeout} {
				fs := &flag.FlagSet{}
				s := defineStopping(fs)
				*s.grace = grace
				require.NoError(t, s.plan(&settings{sessionTimeout: timeout}))
				got := s.graceOf(granted)
				margin := time.Duration(s.margin * float64(granted))
				require.LessOrEqual(t, got, max(0, margin-spare(granted)), "%v %v %v", timeout, grace, granted)
				require.LessOrEqual(t, s.margin, 0.5)
				if granted >= timeout && grace >= 0 {
					require.InDelta(t, grace, got, float64(time.Microsecond))
				}
			}
		}
	}
	s := defineStopping(&flag.FlagSet{})
	require.NoError(t, s.plan(&settings{sessionTimeout: 10 * time.Second, strict: true}))
	require.Equal(t, 2*time.Second, *s.grace, "the default")
	require.LessOrEqual(t, s.margin, 0.25, "what strict contact allows")
}

// A stop that comes at the very moment of the grant is heard.
//
// Promise: A signal that arrives together with the grant keeps the command from starting.
func TestAStopAtTheGrantIsHeard(t *testing.T) {
	for range 200 {
		signals := make(chan os.Signal, 1)
		ctx, end := untilStart(context.Background(), signals)
		signals <- syscall.SIGTERM
		require.Equal(t, bySignal+int(syscall.SIGTERM), statusOf(end()))
		require.ErrorIs(t, ctx.Err(), context.Canceled)
	}
	signals := make(chan os.Signal, 1)
	ctx, end := untilStart(context.Background(), signals)
	require.NoError(t, end())
	signals <- syscall.SIGTERM
	require.NoError(t, ctx.Err(), "the signal is for the command")
	require.Len(t, signals, 1)
}

func TestTheLineOfProgress(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	holder := inspect.Participant{ID: "bill@web-1/4711", Since: now.Add(-200 * time.Second)}
	r := inspect.Recipe{Path: "/jobs/bill", Holders: []inspect.Participant{holder}}
	require.Equal(t, "/jobs/bill: held by bill@web-1/4711, there for 3m20s", describeQueue(r, 7, now))
	r.Waiters = []inspect.Participant{{Position: 1, Session: 3}, {Position: 2, Session: 7}}
	require.Equal(t, "/jobs/bill: 2 ahead, held by bill@web-1/4711, there for 3m20s", describeQueue(r, 7, now))
	r.Waiters, r.Unread = r.Waiters[:1], 50
	require.Equal(t, "/jobs/bill: more than 20 ahead, held by bill@web-1/4711, there for 3m20s", describeQueue(r, 7, now))
	require.Equal(t, "/jobs/b", clip("/jobs/bill", 7))
	require.Equal(t, "/jobs/", clip("/jobs/棚", 7), "the character needs two columns")
}

func TestABufferIsNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	for _, v := range []any{nil, &bytes.Buffer{}, (*os.File)(nil), null} {
		require.False(t, terminal.Is(v))
		require.Equal(t, 80, terminal.Width(v))
	}
}

// The lock is lost while the command is being started. The start has the grace to
// end by itself, and the command has what is left of it.
func TestALossLeavesAStartItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease, lose := context.WithCancel(t.Context())
		g := graceAfter(lease, 3*time.Second)
		time.Sleep(time.Hour)
		require.Equal(t, 3*time.Second, g.left())
		lost := time.Now()
		lose()
		time.Sleep(time.Second)
		require.Equal(t, 2*time.Second, g.left())
		<-g.over
		require.Equal(t, 3*time.Second, time.Since(lost))
		require.Zero(t, g.left())
	})
}
