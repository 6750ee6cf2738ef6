//go:build real

package databases

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// stalls is how often a holder of each kind of database is stopped, at least.
const stalls = 100

// Promise: no row of a stale holder remains after its successor has written, whether
// the holder is stopped before its write is sent or while the write waits for a lock.
func TestStoppedHolderWritesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		h := newHarness(t, k)
		ways := h.having(fenced)
		rounds := (stalls + 2*len(ways) - 1) / (2 * len(ways))
		for _, way := range ways {
			for range rounds {
				for _, inFlight := range []bool{false, true} {
					stale, said := h.stall(t, way, inFlight)
					require.False(t, stale, "%s, in flight: %v: %s", way.name, inFlight, said)
					if strings.Contains(way.name, "REPEATABLE") || strings.Contains(way.name, "SERIALIZABLE") {
						require.Contains(t, []string{refused, aborted}, said)
					} else {
						require.Equal(t, refused, said, way.name)
					}
				}
			}
		}
		t.Logf("%d stalls in %d ways: no stale row", 2*rounds*len(ways), len(ways))
	})
}

// The harness sees stale rows where the check is not in the writing statement.
func TestHarnessSeesStaleRows(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		h := newHarness(t, k)
		for _, way := range h.having(unfenced) {
			const rounds = 5
			count := 0
			for range rounds {
				stale, said := h.stall(t, way, way.name == "a predicate on another row")
				require.Equal(t, written, said)
				if stale {
					count++
				}
			}
			require.Equal(t, rounds, count, way.name)
			t.Logf("%s: %d stale rows of %d", way.name, count, rounds)
		}
	})
}

// harness has a holder, which is another process, and its successor.
type harness struct {
	world
	srv       *zktest.Server
	successor *framework.Client
	holder    *exec.Cmd
	in        io.Writer
	out       *bufio.Scanner
}

func newHarness(t *testing.T, k kind) *harness {
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"), zktest.WithSessionTimeouts(sessionTimeout, sessionTimeout))
	h := &harness{world: newWorld(t, k), srv: srv}
	var err error
	h.successor, err = framework.Connect(within(t), srv.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { h.successor.Close() })

	self, err := os.Executable()
	require.NoError(t, err)
	h.holder = exec.Command(self, command, srv.Addr(), k.name, h.dsn)
	h.holder.Stderr = os.Stderr
	in, err := h.holder.StdinPipe()
	require.NoError(t, err)
	out, err := h.holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, h.holder.Start())
	t.Cleanup(func() {
		_ = h.holder.Process.Signal(syscall.SIGCONT)
		_ = in.Close()
		_ = h.holder.Process.Kill()
		_ = h.holder.Wait()
	})
	h.in, h.out = in, bufio.NewScanner(out)
	return h
}

// stall stops the holder during a write, ends its session, lets the successor write,
// and lets the holder go on. It reports whether the holder's write has an effect after
// the successor's, and what the holder says of it.
func (h *harness) stall(t *testing.T, way way, inFlight bool) (stale bool, said string) {
	t.Helper()
	ctx := within(t)
	before := stops
	write := func(l *locks.Lease) { h.writeAll(t, ctx, nil, l) }
	var pinned *sql.Tx
	if inFlight {
		before = goesOn
		pinned = h.pin(t, ctx)
		write = func(l *locks.Lease) { h.writeAll(t, ctx, pinned, l) }
	}
	fmt.Fprintf(h.in, "%s: %s\n", way.name, before)
	var session, token int64
	_, err := fmt.Sscan(h.line(t), &session, &token)
	require.NoError(t, err)
	if inFlight {
		// A statement of SQLite waits in its process: it may not have begun.
		if h.blocked != "" {
			h.untilBlocked(t)
		}
		require.NoError(t, h.holder.Process.Signal(syscall.SIGSTOP))
	}
	h.untilStopped(t)

	require.True(t, h.srv.Session(session).Expire())
	next, err := locks.NewInterProcessMutex(h.successor, lockPath).Acquire(ctx)
	require.NoError(t, err)
	require.Greater(t, next.FencingToken(), token)
	write(next)

	require.NoError(t, h.holder.Process.Signal(syscall.SIGCONT))
	if !inFlight {
		fmt.Fprintln(h.in, "go on")
	}
	said = h.line(t)
	require.NoError(t, next.Release(ctx))

	var now string
	require.NoError(t, h.db.QueryRow("SELECT value FROM register WHERE id = 1").Scan(&now))
	return now != value(next.FencingToken()) || h.number(t, "SELECT count(*) FROM ledger WHERE token = $1", token) > 0, said
}

// pin begins a transaction that locks all rows that a holder writes to.
func (h *harness) pin(t *testing.T, ctx context.Context) *sql.Tx {
	tx, err := h.db.BeginTx(ctx, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	for _, query := range []string{"UPDATE register SET id = 1 WHERE id = 1", "SELECT fence_token FROM fence" + h.locks} {
		_, err := tx.ExecContext(ctx, query)
		require.NoError(t, err)
	}
	return tx
}

// writeAll writes to the register and the ledger under a lease, in its own transaction
// if tx is nil.
func (h *harness) writeAll(t *testing.T, ctx context.Context, tx *sql.Tx, l *locks.Lease) {
	t.Helper()
	if tx == nil {
		var err error
		tx, err = h.db.BeginTx(ctx, nil)
		require.NoError(t, err)
	}
	require.NoError(t, h.registers().Update(ctx, tx, l, 1, h.text("value = $1"), value(l.FencingToken())))
	require.NoError(t, h.guards().Upsert(ctx, tx, l, []string{"resource"}, []any{"ledger"}))
	_, err := tx.ExecContext(ctx, h.text(addToLedger), l.FencingToken())
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
}

// line returns the next line that the holder prints.
func (h *harness) line(t *testing.T) string {
	t.Helper()
	require.True(t, h.out.Scan(), "the holder has ended: %v", h.out.Err())
	return h.out.Text()
}

// untilStopped waits until the holder is stopped.
func (h *harness) untilStopped(t *testing.T) {
	t.Helper()
	var status syscall.WaitStatus
	_, err := syscall.Wait4(h.holder.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped(), "the holder has ended: %v", status)
}
