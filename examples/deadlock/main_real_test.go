//go:build real

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
)

func TestMain(m *testing.M) {
	thorough.Parallel(4)
	leaktest.Main(m)
}

// The deadlock is found with both services by name, ends when one gives up, and
// does not come back if both lock in one order.
func TestStory(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	require.Equal(t, asExpected, run(t.Context(), nil, &out, &errs), &errs)
	t.Log(&out)
	require.Empty(t, errs.String())
	require.Contains(t, out.String(), "DEADLOCK of 2 processes\n")
	for _, line := range []string{
		`  orders@\S+/\d+ waits for mutex /deadlock/accounts, which billing@\S+/\d+ holds\n`,
		`  billing@\S+/\d+ waits for mutex /deadlock/stock, which orders@\S+/\d+ holds\n`,
		`orders has both locks, and releases them\n`,
		`each service locked both 50 times`,
	} {
		require.Regexp(t, regexp.MustCompile(line), out.String())
	}
}

// staying runs the program with -stay until there is a deadlock. It returns the
// address of the server, and where the exit status will be.
func staying(t *testing.T, ctx context.Context, stderr io.Writer) (addr string, status <-chan int) {
	t.Helper()
	out := &lines{until: "Ctrl-C", seen: make(chan struct{})}
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"-stay"}, out, stderr) }()
	select {
	case <-out.seen:
	case <-time.After(time.Minute):
		t.Fatal("no deadlock was found")
	}
	found := regexp.MustCompile(`-S (\S+) graph`).FindStringSubmatch(out.String())
	require.NotNil(t, found, out.String())
	return found[1], ended
}

// With -stay the deadlock is there for others to look at, until an interrupt.
func TestStay(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	addr, status := staying(t, ctx, t.Output())
	c, err := framework.Connect(t.Context(), addr)
	require.NoError(t, err)
	d, err := findDeadlock(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, d.Processes, 2)
	require.NoError(t, c.Close())
	interrupt()
	require.Equal(t, asExpected, <-status)
}

// Somebody deletes the lock that a service holds. There is no deadlock any more,
// and the program ends with the reason. The service has failed if it has heard
// of the deletion.
func TestStayEndsWithTheDeadlock(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithTimeout(t.Context(), time.Minute)
	defer interrupt()
	var errs bytes.Buffer
	addr, status := staying(t, ctx, &errs)
	c, err := framework.Connect(t.Context(), addr)
	require.NoError(t, err)
	d, err := findDeadlock(t.Context(), c)
	require.NoError(t, err)
	deleted := make(chan error, 1)
	go func() { deleted <- c.Delete(t.Context(), d.Cycle[0].Holder.Path, framework.AnyVersion) }()
	require.Equal(t, failed, <-status)
	require.NoError(t, ctx.Err(), "not by the end of the test's patience")
	require.NoError(t, c.Close())
	if err := <-deleted; err != nil { // the server has ended with the program, before its answer
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
	}
	require.Regexp(t, `^deadlock: ((orders|billing) has failed: .*`+locks.ErrNodeDeleted.Error()+`|`+errNoDeadlock.Error()+`)`, errs.String())
}

// The first service that fails is the reason, and the other one need not wait.
func TestEndOfAServiceThatFails(t *testing.T) {
	broken := errors.New("broken")
	for name, first := range map[string]int{"orders": 0, "billing": 1} {
		done := []chan error{make(chan error, 1), make(chan error, 1)}
		done[first] <- broken
		err := endOf(done[0], done[1], func() { done[1-first] <- context.Canceled })
		require.ErrorIs(t, err, broken)
		require.EqualError(t, err, name+" has failed: broken")
	}
}

// lines keeps what is written, and tells when it has a certain text. Only
// String may be called beside a Write, once that text was seen.
type lines struct {
	strings.Builder
	until string
	seen  chan struct{}
	told  bool
}

func (l *lines) Write(p []byte) (int, error) {
	n, err := l.Builder.Write(p)
	if !l.told && strings.Contains(l.String(), l.until) {
		l.told = true
		close(l.seen)
	}
	return n, err
}

func TestBadInput(t *testing.T) {
	for want, args := range map[string][]string{
		"-nonsense": {"-nonsense"}, `"more"`: {"more"}, "-timeout": {"-timeout", "0s"},
	} {
		var out, errs bytes.Buffer
		require.Equal(t, badInput, run(t.Context(), args, &out, &errs))
		require.Contains(t, errs.String(), want)
		require.Empty(t, out.String())
	}
}

func TestHelp(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, asExpected, run(t.Context(), []string{"-h"}, &out, &errs))
	require.Contains(t, errs.String(), "-servers")
}

// If no server answers, the program still ends, with the reason.
func TestNoServer(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	require.Equal(t, failed, run(t.Context(), []string{"-servers", "127.0.0.1:1", "-timeout", "300ms"}, &out, &errs))
	require.Contains(t, errs.String(), errTimeout.Error())
}
