package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// The deadlock is found with both services by name, ends when one gives up, and
// does not come back if both lock in one order.
func TestStory(t *testing.T) {
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

// With -stay the deadlock is there for others to look at, until an interrupt.
func TestStay(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	out := &lines{until: "Ctrl-C", seen: make(chan struct{})}
	status := make(chan int, 1)
	go func() { status <- run(ctx, []string{"-stay"}, out, t.Output()) }()
	select {
	case <-out.seen:
	case <-time.After(time.Minute):
		t.Fatal("no deadlock was found")
	}
	addr := regexp.MustCompile(`-S (\S+) graph`).FindStringSubmatch(out.String())
	require.NotNil(t, addr, out.String())
	c, err := framework.Connect(t.Context(), addr[1])
	require.NoError(t, err)
	d, err := findDeadlock(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, d.Processes, 2)
	require.NoError(t, c.Close())
	interrupt()
	require.Equal(t, asExpected, <-status)
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
	var out, errs bytes.Buffer
	require.Equal(t, failed, run(t.Context(), []string{"-servers", "127.0.0.1:1", "-timeout", "300ms"}, &out, &errs))
	require.Contains(t, errs.String(), errTimeout.Error())
}
