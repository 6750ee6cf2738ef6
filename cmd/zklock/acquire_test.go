package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func TestAStopWhileWaitingStartsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		s.hold(t, "/l") // the queue of a LeaderSelector is the same as the queue of a mutex
		for _, sig := range child.Forwarded {
			for _, line := range bothCommands {
				r := s.start(t, line...)
				require.Len(t, s.Children("/l"), 2)
				r.signal(sig.(syscall.Signal))
				r.finish(bySignal + int(sig.(syscall.Signal)))
				require.Empty(t, r.commands)
				require.Len(t, s.Children("/l"), 1, "it has left the queue")
			}
		}
	})
}

func TestALockThatIsTaken(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		s.hold(t, "/l")
		for _, flags := range [][]string{{"-n"}, {"--nonblock"}, {"-w", "0"}, {"-w50ms"}, {"--wait=0.05"}} {
			for _, line := range [][]string{{"run", "/l", "cmd"}, {"wait", "/l"}} {
				got := s.zklock(t, with(line, flags...)...)
				require.Equal(t, notAcquired, got.status, got.err)
				require.Contains(t, got.err, "held by the-test@")
				require.Equal(t, 1, strings.Count(got.err, "\n"), "the reason is one line: %s", got.err)
			}
		}
		require.Equal(t, 1, s.zklock(t, "run", "-nE1", "/l", "cmd").status)
		require.Equal(t, 1, s.zklock(t, "wait", "-w", "0.05", "-E", "1", "/l").status)
	})
}

func TestKindsOfLocks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		holders := map[string]*running{}
		for name, line := range map[string]string{
			"reader": "run -s /rw cmd", "first": "run -c 2 /sem cmd", "second": "run -c2 /sem cmd",
		} {
			holders[name] = s.start(t, strings.Fields(line)...)
		}
		free := func(line string) {
			r := s.start(t, strings.Fields(line)...)
			r.command().end(0)
			r.finish(0)
		}
		taken := func(status int, line string) result {
			got := s.zklock(t, strings.Fields(line)...)
			require.Equal(t, status, got.status, got.err)
			return got
		}
		free("run -s -n /rw cmd")
		taken(notAcquired, "run -x -n /rw cmd")
		require.Contains(t, taken(badUsage, "run -n /rw cmd").err, "asked for with -s or -x", "a mutex there would exclude nobody")
		taken(notAcquired, "run -c 2 -n /sem cmd")
		for _, r := range holders {
			r.command().end(1)
			r.finish(1)
		}
		free("run -x -n /rw cmd")
		free("run -c 2 -n /sem cmd")
	})
}

func TestAPathOfAnotherKindIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		ctx, c := t.Context(), s.client(t)
		_, err := locks.NewInterProcessReadWriteLock(c, "/rw").ReadLock().Acquire(ctx)
		require.NoError(t, err)
		_, err = locks.NewInterProcessSemaphore(c, "/sem", locks.Limit(2)).Acquire(ctx)
		require.NoError(t, err)
		latch, err := leader.NewLatch(c, "/latch")
		require.NoError(t, err)
		_, err = latch.WaitLeadership(ctx)
		require.NoError(t, err)
		for path, kind := range map[string]string{"/rw": "read_write_lock", "/sem": "semaphore", "/latch": "leader_latch"} {
			for _, command := range []string{"run", "elect"} {
				got := s.zklock(t, command, path, "--", "cmd")
				require.Equal(t, badUsage, got.status)
				require.Contains(t, got.err, path+" is in use as a "+kind)
			}
		}
		require.NoError(t, latch.Shutdown(ctx))
	})
}

func TestAPathOfAnotherKindIsRefusedAfterTheGrant(t *testing.T) {
	const writer, mutex = "__WRIT__0000000000", "lock-0000000000"
	for line, where := range map[string][2]string{
		"run /l cmd": {"/l/*", writer}, "run --hold /l": {"/l/*", writer}, "elect /l cmd": {"/l/*", writer},
		"run -c2 /l cmd": {"/l/locks/*", mutex},
	} {
		inBubble(t, func(t *testing.T) {
			s := newStand(t)
			require.NoError(t, s.Create("/l", nil))
			begun := s.Inject(zktest.Rule{Op: zktest.OpCreate, Path: where[0], Do: zktest.Call(func(zktest.Request) {
				require.NoError(t, s.Create("/l/"+where[1], nil))
			})})
			r := s.begin(t, strings.NewReader(""), strings.Fields(line)...)
			got := r.finish(badUsage)
			require.Equal(t, 1, begun.Hits())
			require.Empty(t, r.commands)
			require.Empty(t, got.out)
			require.Contains(t, got.err, "/l is in use as a ")
			require.Subset(t, []string{where[1], "leases", "locks"}, s.Children("/l"))
			require.Empty(t, s.Children("/l/leases"))
		})
	}
}

func TestAWaiterLearnsOfAnotherKind(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		s.hold(t, "/l")
		s.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/l/*", Do: zktest.Call(func(zktest.Request) {
			require.NoError(t, s.Create("/l/__WRIT__0000000000", nil))
		})})
		r := s.start(t, "run", "/l", "cmd")
		require.Equal(t, 1, strings.Count(r.err.String(), "\n"))
		require.Contains(t, r.err.String(), "two recipes use one path, and neither waits for the other")
		require.Contains(t, r.err.String(), "/l/__WRIT__0000000000")
		r.signal(syscall.SIGTERM)
		r.finish(bySignal + int(syscall.SIGTERM))
	})
}

func TestNoRights(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t, framework.WithAuth("digest", []byte("joe:secret")))
		_, err := c.Create(t.Context(), "/private", nil, framework.WithACL(zk.DigestACL(zk.PermAll, "joe", "secret")))
		require.NoError(t, err)
		require.Equal(t, noRights, s.zklock(t, "run", "/private", "cmd").status)
		auth := filepath.Join(t.TempDir(), "auth")
		require.NoError(t, os.WriteFile(auth, []byte("# credentials\ndigest:joe:secret\n"), 0o600))
		r := s.start(t, "--auth-file", auth, "run", "/private", "cmd")
		r.command().end(0)
		r.finish(0)
	})
}

func TestAWaitWithoutAConnectionIsBounded(t *testing.T) {
	for flags, want := range map[string]struct {
		status int
		says   string
	}{
		"-w 300ms --connect-timeout 20":      {notAcquired, "/l: no connection to 127.0.0.1:2181 after 300ms: "},
		"-w 300ms -E 5 --connect-timeout 20": {5, "/l: no connection to 127.0.0.1:2181 after 300ms: "},
		"-w 20 --connect-timeout 300ms":      {noServer, "no server of 127.0.0.1:2181 answered within 300ms: "},
		"-n --connect-timeout 300ms":         {noServer, "no server of 127.0.0.1:2181 answered within 300ms: "},
		"-w 0 --connect-timeout 300ms":       {noServer, "no server of 127.0.0.1:2181 answered within 300ms: "},
	} {
		for _, line := range [][]string{{"run", "/l", "cmd"}, {"wait", "/l"}} {
			inBubble(t, func(t *testing.T) {
				s := newStand(t)
				s.RefuseConnections(true)
				begin := time.Now()
				got := s.zklock(t, with(line, strings.Fields(flags)...)...)
				require.Equal(t, 300*time.Millisecond, time.Since(begin), flags)
				require.Equal(t, want.status, got.status, got.err)
				require.Contains(t, got.err, want.says)
				require.Contains(t, got.err, "connection refused")
			})
		}
	}
}

func TestAWaitForAnAnswerIsBounded(t *testing.T) {
	for flags, want := range map[string]int{"-w 10 --connect-timeout 20": notAcquired, "-n --connect-timeout 10": noServer} {
		for _, line := range [][]string{{"run", "/l", "cmd"}, {"wait", "/l"}} {
			inBubble(t, func(t *testing.T) {
				s := newStand(t)
				s.Inject(zktest.Rule{Op: zktest.OpAny, Path: "/l", Do: zktest.Blackhole()})
				got := s.zklock(t, with(line, strings.Fields("--session-timeout 1m "+flags)...)...)
				require.Equal(t, want, got.status, got.err)
				require.Contains(t, got.err, "/l: no answer from 127.0.0.1:2181 after 10s")
			})
		}
	}
}

func TestAWaitThatEndsInAnOutageSaysSo(t *testing.T) {
	for _, line := range [][]string{{"run", "-w", "20", "/l", "cmd"}, {"wait", "-w", "20", "/l"}} {
		inBubble(t, func(t *testing.T) {
			s := newStand(t)
			s.hold(t, "/l")
			r := s.start(t, line...)
			require.NoError(t, s.Stop())
			got := r.finish(notAcquired)
			require.Contains(t, got.err, "/l: no connection to 127.0.0.1:2181")
			require.Contains(t, got.err, "held by ")
		})
	}
}
