//go:build real

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
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/testing/zktest"
)

// program runs the program with real worker processes.
func runProgram(t *testing.T, ctx context.Context, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(ctx, args, &out, &errs)
	t.Logf("flashsale %s: %d\n%s%s", strings.Join(args, " "), status, &out, &errs)
	return status, out.String(), errs.String()
}

// holdSale runs the program for tests that look at more than its output.
func holdSale(t *testing.T, args ...string) flashSale {
	t.Helper()
	cfg, err := parse(args, t.Output())
	require.NoError(t, err)
	sale, err := runSale(t.Context(), cfg, t.Output())
	require.NoError(t, err)
	sale.print(t.Output())
	return sale
}

// longSession is for sessions that must survive pauses of the processes.
const longSession = "-session-timeout=30s"

// longThink is for workers all of which must have read before one of them writes.
const longThink = "8s"

// deadSession is the timeout of sessions one of which ends with its process. The
// others must survive.
const deadSession = 8 * time.Second

func TestStory(t *testing.T) {
	status, out, errs := runProgram(t, t.Context(), longSession)
	require.Equal(t, asExpected, status)
	require.Empty(t, errs)
	require.Len(t, regexp.MustCompile(`order-. .* SOLD`).FindAllString(out, -1), 1)
	require.Equal(t, 3, strings.Count(out, "refused, 0 left"))
	require.True(t, strings.HasSuffix(out, "\nbooks balance\n"))
	require.LessOrEqual(t, strings.Count(out, "\n"), 25, "one screen")
}

func TestUnsafe(t *testing.T) {
	t.Parallel()
	status, out, _ := runProgram(t, t.Context(), "-unsafe", "-think", longThink, longSession)
	require.Equal(t, asExpected, status)
	require.True(t, strings.HasSuffix(out, "\nOVERSOLD by 300\n"))
}

func TestCrash(t *testing.T) {
	t.Parallel()
	const session = deadSession    // up to a third of it is over when the worker dies
	const slack = 30 * time.Second // for a busy machine
	for _, at := range []moment{beforeWrite, afterWrite} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			sale := holdSale(t, "-crash", string(at), "-session-timeout", session.String())
			require.True(t, sale.asExpected())
			require.NotNil(t, sale.killed)
			require.GreaterOrEqual(t, sale.longestWait(), session/4, "the others waited for the dead worker")
			require.LessOrEqual(t, sale.longestWait(), session+slack)
			for _, r := range sale.results {
				require.Equal(t, r.Worker == sale.killed.job.Worker, r.nth == 2, r.ID)
				require.Equal(t, at == afterWrite && r.nth == 2, r.Found, r.ID)
			}
		})
	}
}

func TestRealServer(t *testing.T) {
	t.Parallel()
	srv := zkserver.Start(t)
	client, err := framework.New(srv.Addr())
	require.NoError(t, err)
	defer client.Close()
	for _, args := range [][]string{
		{"-crash", "before-write", "-session-timeout", deadSession.String()},
		{"-crash", "after-write", "-session-timeout", deadSession.String()},
		{"-unsafe", "-think", longThink, longSession},
	} {
		status, out, _ := runProgram(t, t.Context(), append(args, "-servers", srv.Addr()+"/")...)
		require.Equal(t, asExpected, status)
		root := regexp.MustCompile(`/flashsale/\w+`).FindString(out)
		found, _, err := client.Exists(t.Context(), root)
		require.NoError(t, err)
		require.False(t, found, root)
	}
	_, out, _ := runProgram(t, t.Context(), "-keep", "-servers", srv.Addr(), longSession)
	root := regexp.MustCompile(`/flashsale/\w+`).FindString(out)
	found, _, err := client.Exists(t.Context(), root+"/stock/sneaker")
	require.NoError(t, err)
	require.True(t, found)
}

// After Ctrl-C in the middle every process has ended, and the server has no
// session of any of them.
func TestInterrupt(t *testing.T) {
	cfg, err := parse([]string{"-think", "1h", longSession}, t.Output())
	require.NoError(t, err)
	srv, books := tcpLedger(t, cfg)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() {
		// The first holder, three waiters and the lock itself: all workers are
		// at work.
		if srv.WaitChildren(ctx, books.lockPath("sneaker"), 4) == nil {
			interrupt()
		}
	}()
	s := shop{cfg: cfg, servers: srv.Addr(), root: books.root}
	require.ErrorIs(t, s.run(ctx), context.Canceled)
	require.Len(t, s.running, 4)
	for p := range s.running {
		require.NotNil(t, p.cmd.ProcessState, "ended and waited for")
	}
}

// tcpLedger returns an open ledger on a server that other processes can reach.
func tcpLedger(t *testing.T, cfg config) (*zktest.Server, ledger) {
	t.Helper()
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	client, err := framework.New(srv.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	books := ledger{client, "/flashsale/test"}
	require.NoError(t, books.open(t.Context(), cfg.stock))
	return srv, books
}
