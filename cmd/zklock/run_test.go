package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// bothCommands are command lines that run a command under /l.
var bothCommands = map[string][]string{"run": {"run", "/l", "--", "cmd"}, "elect": {"elect", "/l", "--", "cmd"}}

// with returns a command line with flags.
func with(line []string, flags ...string) []string {
	return append(append([]string{line[0]}, flags...), line[1:]...)
}

func TestTheStatusIsThatOfTheCommand(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		for _, status := range []int{0, 7, lost, 128 + 9} {
			for _, line := range bothCommands {
				r := s.start(t, line...)
				r.command().end(status)
				require.Equal(t, result{status, "", ""}, r.wait())
				require.Empty(t, s.Children("/l"), "the lock was released")
			}
		}
	})
}

// The reason why a command cannot be started has the status that shells have.
func TestStatusOfStartErrors(t *testing.T) {
	for err, want := range map[error]int{
		exec.ErrNotFound: notFound, os.ErrNotExist: notFound, os.ErrPermission: notExecuted, syscall.EISDIR: notExecuted,
		syscall.ENOEXEC: notExecuted, child.ErrGuard: ownFailure, io.EOF: ownFailure,
	} {
		got := startError("cmd", fmt.Errorf("exec: %w", err))
		require.Equal(t, want, statusOf(got))
		require.ErrorContains(t, got, "cmd: exec: ")
	}
}

func TestTheCommandKnowsItsLock(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		r := s.start(t, "-v", "run", "/l", "cmd", "t={token},{token}")
		p, first := r.command(), s.first(t, "/l")
		czxid := strconv.FormatInt(first.Stat.Czxid, 10)
		require.Equal(t, []string{"cmd", "t=" + czxid + "," + czxid}, p.Args)
		require.Equal(t, "/l", p.variable("ZKLOCK_PATH"))
		require.Equal(t, first.Path, p.variable("ZKLOCK_NODE"))
		require.Equal(t, czxid, p.variable("ZKLOCK_TOKEN"))
		require.Equal(t, fmt.Sprintf("%#x", first.Stat.EphemeralOwner), p.variable("ZKLOCK_SESSION"))
		require.Contains(t, p.variable("ZKLOCK_ID"), "cmd@")
		require.Equal(t, 2*time.Second, p.Grace)
		p.end(0)
		require.Regexp(t, `(?m)^zklock: acquired /l at \d{4}-\d\d-\d\dT\S+, with token \d+$`, r.finish(0).err)
	})
}

// The session is cut off. The command gets TERM, and KILL after the grace, and has
// ended before the servers let the next one in.
func TestLossOfTheLockStopsTheCommandBeforeOthersHoldIt(t *testing.T) {
	for name, line := range bothCommands {
		inBubble(t, func(t *testing.T) {
			s := newStand(t)
			r := s.start(t, line...)
			p := r.command()
			p.immortal = true // the test ends it
			granted := make(chan time.Time, 1)
			next := s.client(t)
			go func() {
				if _, err := locks.NewInterProcessMutex(next, "/l").Acquire(t.Context()); err == nil {
					granted <- time.Now()
				}
			}()
			synctest.Wait()
			require.True(t, s.Session(s.first(t, "/l").Stat.EphemeralOwner).Pause())
			require.Equal(t, "TERM", <-p.got, name)
			termed := time.Now()
			require.Equal(t, "KILL", <-p.got)
			require.Equal(t, 2*time.Second, time.Since(termed), "the grace")
			time.Sleep(200 * time.Millisecond) // of the margin, for the kill itself
			synctest.Wait()
			require.Empty(t, granted, "the next holder was admitted while the command ran")
			p.end(128 + 9)
			require.Contains(t, r.finish(lost).err, "zklock: lost /l: session lost")
			<-granted
		})
	}
}

func TestACommandThatEndsAtTermIsNotKilled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		for range 2 {
			r := s.start(t, "run", "/l", "cmd")
			p := r.command()
			time.Sleep(time.Second) // from then on, a holder watches its node
			s.lose(t, "/l")
			require.Equal(t, []string{"TERM"}, p.heard())
			_, err := p.Files[0].Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF, "the file of the loss has ended")
			p.end(5)
			require.Contains(t, r.finish(lost).err, "zklock: lost /l: lock node deleted")
			require.Empty(t, p.heard())
		}
	})
}

// The command of --on-lost runs in the place of TERM, and has the grace. zklock
// does not end before it.
func TestOnLostRunsACommandInPlaceOfTerm(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		hook := make(chan *exec.Cmd, 1)
		s.hook = func(limit time.Duration, cmd *exec.Cmd) error {
			require.Equal(t, 2*time.Second, limit)
			hook <- cmd
			time.Sleep(limit)
			return errors.New("killed")
		}
		r := s.start(t, "run", "--on-lost", "exec=stop it", "/l", "cmd")
		p := r.command()
		time.Sleep(time.Second)
		s.lose(t, "/l")
		require.Equal(t, []string{"begin grace"}, p.heard(), "the guard knows before the hook begins")
		cmd := <-hook
		require.Equal(t, []string{"/bin/sh", "-c", "stop it"}, cmd.Args)
		environ := strings.Join(cmd.Env, "\n")
		require.Contains(t, environ, "ZKLOCK_PATH=/l\n")
		require.Contains(t, environ, "ZKLOCK_PID=4711")
		require.Contains(t, environ, "ZKLOCK_REASON=lock node deleted")
		require.NotContains(t, environ, "ZKLOCK_FD=")
		p.end(0)
		require.Contains(t, r.finish(lost).err, "zklock: --on-lost: killed\n")
		require.Empty(t, p.heard())
	})
}

func TestTermComesIfOnLostCannotBeStarted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		s.hook = func(time.Duration, *exec.Cmd) error { return child.ErrNotStarted }
		r := s.start(t, "run", "--on-lost", "exec=x", "/l", "cmd")
		p := r.command()
		time.Sleep(time.Second)
		s.lose(t, "/l")
		require.Equal(t, []string{"begin grace", "TERM"}, p.heard())
		p.end(5)
		r.finish(lost)
	})
}

// What the command has left behind gets TERM, and KILL after the grace. The lock
// is held until then.
func TestNothingOfTheCommandOutlivesTheLock(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		r := s.start(t, "run", "/l", "cmd")
		p := r.command()
		p.exit(3)
		require.Equal(t, []string{"TERM"}, p.heard())
		time.Sleep(2*time.Second - 1)
		require.Len(t, s.Children("/l"), 1, "the lock is held as long as something is left")
		require.Empty(t, p.heard())
		time.Sleep(time.Nanosecond)
		require.Equal(t, []string{"KILL"}, p.heard())
		r.finish(3)
		require.Empty(t, s.Children("/l"))
	})
}

// A process of another user cannot be stopped. That is said at once, and the
// status says it, too.
func TestAProcessThatCannotBeStopped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		r := s.start(t, "run", "/l", "cmd")
		p := r.command()
		p.immortal = true
		time.Sleep(time.Second)
		s.lose(t, "/l")
		require.Equal(t, []string{"TERM"}, p.heard())
		p.refused <- 4711
		synctest.Wait()
		require.Equal(t, "zklock: /l: cannot stop PID 4711: it goes on beside the next holder\n", r.err.String())
		time.Sleep(time.Hour)
		require.Equal(t, []string{"KILL"}, p.heard())
		require.Empty(t, r.ended, "something of the command is left")
		p.end(0)
		require.Contains(t, r.finish(notStopped).err, "lost /l: lock node deleted by someone else; PID 4711 could not be stopped\n")
	})
}

func TestSignalsAreForwarded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		for _, line := range bothCommands {
			r := s.start(t, line...)
			p := r.command()
			for _, sig := range child.Forwarded {
				r.signal(sig.(syscall.Signal))
				require.Equal(t, []string{sig.String()}, p.heard())
			}
			p.end(9)
			r.finish(9)
		}
	})
}

func TestAStopWhileWaitingStartsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		s.hold(t, "/l") // a LeaderSelector's queue is that of a mutex
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

// Between the grant and the start of the command, the lock is lost, or a signal
// comes: here, while the path is looked at again. The command is not started.
func TestNothingStartsAfterALoss(t *testing.T) {
	for name, tc := range map[string]struct {
		do     func(s *stand, r *running)
		status int
	}{
		"a loss":   {func(s *stand, _ *running) { s.Session(s.Queue("/l")[0].Stat.EphemeralOwner).Expire() }, lost},
		"a signal": {func(_ *stand, r *running) { r.send(syscall.SIGTERM) }, bySignal + int(syscall.SIGTERM)},
	} {
		for _, line := range [][]string{{"run", "--at-least", "1h", "/l", "cmd"}, {"elect", "/l", "cmd"}} {
			inBubble(t, func(t *testing.T) {
				s := newStand(t)
				_, release := s.hold(t, "/l")
				r := s.start(t, line...)
				session := s.Queue("/l")[1].Stat.EphemeralOwner
				looks := s.Inject(zktest.Rule{Op: zktest.OpAny, Path: "/l", Session: session, Do: zktest.Call(func(zktest.Request) {
					if len(s.Queue("/l")) == 1 { // and not before the grant
						tc.do(s, r)
					}
				}), Times: -1})
				release()
				got := r.finish(tc.status)
				require.Positive(t, looks.Hits())
				require.Empty(t, r.commands, name)
				if tc.status == lost {
					require.Contains(t, got.err, "the command was not started")
				}
				synctest.Wait()
				require.Empty(t, s.Children("/l"))
			})
		}
	}
}

func TestARevocationAsksTheCommandToEnd(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		for _, line := range bothCommands {
			r := s.start(t, with(line, "--grace", "0")...)
			p := r.command()
			s.zklock(t, "revoke", "/l")
			require.Equal(t, []string{"TERM"}, p.heard())
			time.Sleep(time.Hour) // the grace does not count: the lock is not lost
			require.Len(t, s.Children("/l"), 1, "held until the command has ended")
			require.Empty(t, p.heard())
			p.end(4)
			r.finish(4)
			require.Empty(t, s.Children("/l"))

			r = s.start(t, with(line, "--on-revoke", "ignore")...)
			p = r.command()
			s.zklock(t, "revoke", "/l")
			require.Empty(t, p.heard())
			p.end(0)
			r.finish(0)
		}
	})
}

// When the command has ended, the lock is lost, or the servers alone know that it
// is. Nothing tells which was first, so that the status is not the command's.
func TestALossThatTheServerKnowsOfIsTheStatus(t *testing.T) {
	for name, lose := range map[string]func(s *stand, t *testing.T){
		"lock node deleted by someone else": func(s *stand, t *testing.T) { s.lose(t, "/l") },
		"session lost":                      func(s *stand, t *testing.T) { s.expire(t, "/l") },
	} {
		inBubble(t, func(t *testing.T) {
			s := newStand(t)
			for _, line := range bothCommands {
				r := s.start(t, line...)
				p := r.command()
				lose(s, t)
				p.end(0)
				require.Contains(t, r.finish(lost).err, "zklock: lost /l: "+name)
			}
			r := s.start(t, "run", "--hold", "/l")
			lose(s, t)
			r.stdin.Close()
			require.Contains(t, r.finish(lost).err, "zklock: lost /l: "+name)
		})
	}
}

// No server answers when the command has ended. The session is not over, so that
// the status is the command's, and a line says that no server has confirmed it.
func TestAnOutageAtTheEndIsNoLoss(t *testing.T) {
	for _, cut := range []func(s *stand){
		func(s *stand) { s.Session(s.Queue("/l")[0].Stat.EphemeralOwner).Pause() },
		func(s *stand) { s.RefuseConnections(true); s.CutAll() },
	} {
		inBubble(t, func(t *testing.T) {
			s := newStand(t)
			r := s.start(t, "--session-timeout", "40s", "run", "/l", "cmd")
			p := r.command()
			cut(s)
			begin := time.Now()
			p.end(3)
			require.Contains(t, r.finish(3).err, "zklock: no server has confirmed that /l was held to the end: ")
			require.Less(t, time.Since(begin), 2*answerPatience)
		})
	}
}

// The guard was killed, and the command with it.
func TestAGuardThatWasKilledHasAStatus(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		r := s.start(t, "run", "/l", "cmd")
		p := r.command()
		p.guardDied = true
		p.end(128 + 9)
		require.Equal(t, "zklock: /l: somebody has killed the guard, and the command with it\n", r.finish(ownFailure).err)
		require.Empty(t, s.Children("/l"))
	})
}

// The lock is lost while the job is stopped. TERM would not end the command.
func TestALossOfAStoppedJobIsAKill(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		r := s.start(t, "run", "/l", "cmd")
		p := r.command()
		require.True(t, p.Resume(), "the lock is held")
		p.stopped = true
		s.expire(t, "/l")
		require.False(t, p.Resume(), "it is not")
		require.Equal(t, []string{"KILL"}, p.heard())
		r.finish(lost)
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

// Which locks a command can hold at the same time as others.
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

// A lock or a leader election of another kind has the path. The two would not
// exclude each other.
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

// Two programs of different kinds begin together, and neither sees the other
// before both have a node.
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

// Who waits is told once that the lock excludes others than it seems.
func TestAWaiterIsToldOfAnotherKind(t *testing.T) {
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

// -w bounds all that comes before the grant, also the first connection. Where the
// wait has run out, the status is the one for that, and the reason says that there
// is no connection. -n waits for a connection no longer than the time for that.
func TestAWaitWithoutAConnectionIsBounded(t *testing.T) {
	for flags, want := range map[string]struct {
		status int
		says   string
	}{
		"-w 300ms --connect-timeout 20":      {notAcquired, "/l: no connection to 127.0.0.1:1 after 300ms: "},
		"-w 300ms -E 5 --connect-timeout 20": {5, "/l: no connection to 127.0.0.1:1 after 300ms: "},
		"-w 20 --connect-timeout 300ms":      {noServer, "no server of 127.0.0.1:1 answered within 300ms: "},
		"-n --connect-timeout 300ms":         {noServer, "no server of 127.0.0.1:1 answered within 300ms: "},
		"-w 0 --connect-timeout 300ms":       {noServer, "no server of 127.0.0.1:1 answered within 300ms: "},
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

// The server falls silent after the handshake, when the program looks at the path.
func TestAWaitForAnAnswerIsBounded(t *testing.T) {
	for flags, want := range map[string]int{"-w 10 --connect-timeout 20": notAcquired, "-n --connect-timeout 10": noServer} {
		for _, line := range [][]string{{"run", "/l", "cmd"}, {"wait", "/l"}} {
			inBubble(t, func(t *testing.T) {
				s := newStand(t)
				s.Inject(zktest.Rule{Op: zktest.OpAny, Path: "/l", Do: zktest.Blackhole()})
				got := s.zklock(t, with(line, strings.Fields("--session-timeout 1m "+flags)...)...)
				require.Equal(t, want, got.status, got.err)
				require.Contains(t, got.err, "/l: no answer from 127.0.0.1:1 after 10s")
			})
		}
	}
}

// The servers go while the program is in the queue. The reason names both: who
// was ahead, and that there is no connection.
func TestAWaitThatEndsInAnOutageSaysSo(t *testing.T) {
	for _, line := range [][]string{{"run", "-w", "20", "/l", "cmd"}, {"wait", "-w", "20", "/l"}} {
		inBubble(t, func(t *testing.T) {
			s := newStand(t)
			s.hold(t, "/l")
			r := s.start(t, line...)
			require.NoError(t, s.Stop())
			got := r.finish(notAcquired)
			require.Contains(t, got.err, "/l: no connection to 127.0.0.1:1")
			require.Contains(t, got.err, "held by ")
		})
	}
}

// The lock is held for its least time, in whichever way: a signal or a revocation
// ends that, and without a command that was started there is nothing to keep the
// lock for.
func TestAtLeastKeepsTheLock(t *testing.T) {
	for _, flag := range []string{"--at-least", "--hold-at-least"} {
		inBubble(t, func(t *testing.T) {
			s := newStand(t)
			isKept := func(r *running) {
				time.Sleep(30 * time.Minute)
				require.Empty(t, r.ended)
				require.Equal(t, notAcquired, s.zklock(t, "run", "-n", "/l", "cmd").status)
			}
			begin := func() *running {
				r := s.start(t, "run", flag, "1h", "/l", "cmd")
				r.command().end(6)
				return r
			}
			r := begin()
			isKept(r)
			require.Zero(t, s.zklock(t, "revoke", "/l").status)
			r.finish(6)
			require.Empty(t, s.Children("/l"))

			r = s.start(t, "run", flag, "1h", "/l", "cmd")
			p := r.command()
			r.signal(syscall.SIGTERM) // for the command, and for the time after it
			begun := time.Now()
			p.end(6)
			r.finish(6)
			require.Zero(t, time.Since(begun))
			if flag == "--hold-at-least" { // the session keeps the lock all the same
				require.Len(t, s.Children("/l"), 1)
				s.expire(t, "/l")
			}
			r = begin()
			isKept(r)
			r.signal(syscall.SIGTERM)
			r.finish(6)
		})
	}
}

// There is nothing to keep a lock for if no command was started.
func TestAtLeastIsForWhatWasStarted(t *testing.T) {
	for _, flag := range []string{"--at-least", "--hold-at-least"} {
		inBubble(t, func(t *testing.T) {
			s := newStand(t)
			s.refuses = exec.ErrNotFound
			begin := time.Now()
			require.Equal(t, notFound, s.zklock(t, "run", flag, "1h", "/l", "cmd").status)
			require.Zero(t, time.Since(begin))
			require.Empty(t, s.Children("/l"))
			require.Empty(t, s.Sessions())
		})
	}
}

// The program ends as soon as the session can keep the lock for the rest, and the
// session keeps it. Others see that.
func TestHoldAtLeastOutlastsTheProgram(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		begin := time.Now()
		r := s.start(t, "run", "--hold-at-least", "30s", "/l", "cmd")
		time.Sleep(time.Second)
		r.command().end(6)
		r.finish(6)
		require.InDelta(t, 23.4, time.Since(begin).Seconds(), 0.2)
		for _, command := range []string{"ls", "show"} {
			require.Contains(t, s.zklock(t, command, "/l").out, " (released, kept until ", command)
		}
		require.Contains(t, s.zklock(t, "show", "-o", "json", "/l").out, `"kept_until":"`)
		time.Sleep(time.Until(begin.Add(30 * time.Second)))
		require.Equal(t, notAcquired, s.zklock(t, "run", "-n", "/l", "cmd").status)
		time.Sleep(10 * time.Second)
		require.Empty(t, s.Children("/l"))
		for _, kind := range []string{"-s", "-x", "-c3"} {
			require.Contains(t, s.zklock(t, "run", "--hold-at-least", "1", kind, "/l", "cmd").err, "--hold-at-least is for a mutex")
		}
	})
}

// A lock without a command is held until a signal, the end of the input, the end of
// the parent, a revocation, or a loss.
func TestRunHolds(t *testing.T) {
	for name, tc := range map[string]struct {
		flags  string
		end    func(s *stand, r *running, t *testing.T)
		status int
	}{
		"a signal":       {"", func(_ *stand, r *running, _ *testing.T) { r.signal(syscall.SIGTERM) }, 0},
		"the pipe's end": {"", func(_ *stand, r *running, _ *testing.T) { r.stdin.Close() }, 0},
		"the parent":     {"--parent 5", func(s *stand, _ *running, _ *testing.T) { close(s.parents[5]) }, 0},
		"a revocation":   {"", func(s *stand, _ *running, t *testing.T) { s.zklock(t, "revoke", "/l") }, 0},
		"a loss":         {"", func(s *stand, _ *running, t *testing.T) { s.lose(t, "/l") }, lost},
		"a lost session": {"", func(s *stand, _ *running, t *testing.T) { s.expire(t, "/l") }, lost},
	} {
		inBubble(t, func(t *testing.T) {
			s := newStand(t)
			s.parents[5] = make(chan struct{})
			r := s.start(t, append(strings.Fields("run --hold "+tc.flags), "/l")...)
			require.Regexp(t, `^holding /l with token [0-9]+\n$`, r.out.String())
			time.Sleep(time.Hour)
			require.Len(t, s.Children("/l"), 1)
			tc.end(s, r, t)
			got := r.finish(tc.status)
			require.Empty(t, s.Children("/l"), name)
			if tc.flags != "" {
				require.Equal(t, "zklock: /l: process 5 has ended, and the hold with it\n", got.err)
			}
		})
	}
}

// A hold ends with its parent if its input cannot tell when the hold is over.
func TestTheParentOfAHold(t *testing.T) {
	piped := func(is bool) func(io.Reader) bool { return func(io.Reader) bool { return is } }
	for _, tc := range []struct {
		host host
		flag string
		want int
	}{
		{host{parent: 7, tells: piped(false)}, "", 7},
		{host{parent: 7, tells: piped(true)}, "", 0},
		{host{parent: 1, tells: piped(false)}, "", 0},
		{host{parent: 0, tells: piped(false)}, "", 0},
		{host{parent: 7, tells: piped(true)}, "9", 9},
		{host{parent: 7, tells: piped(false)}, "0", 0},
	} {
		var p parentFlag
		if tc.flag != "" {
			require.NoError(t, p.Set(tc.flag))
		}
		require.Equal(t, tc.want, p.of(&env{host: tc.host}))
	}
	require.Error(t, new(parentFlag).Set("-1"))
	require.Error(t, new(parentFlag).Set("sh"))
}

// The output of zklock is not read. zklock stops its command, forwards signals and
// ends all the same.
func TestAnUnreadZklockActs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		unread := func(args ...string) *running {
			unread, out := io.Pipe()
			unreadErrs, errs := io.Pipe()
			in, stdin := io.Pipe()
			t.Cleanup(func() { stdin.Close(); unread.Close(); unreadErrs.Close() })
			r := &running{t: t, s: s, stdin: stdin, out: &text{}, err: &text{}}
			s.beginWith(t, r, streams{in, out, errs}, append([]string{"-v"}, args...)...)
			synctest.Wait()
			return r
		}
		r := unread("run", "/l", "cmd")
		p := r.command()
		r.signal(syscall.SIGHUP)
		require.Equal(t, []string{"hangup"}, p.heard())
		time.Sleep(time.Second)
		s.lose(t, "/l")
		require.Equal(t, []string{"TERM"}, p.heard())
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"KILL"}, p.heard())
		r.finish(lost)

		r = unread("run", "--hold", "/l")
		r.signal(syscall.SIGTERM)
		r.finish(0)
		require.Empty(t, s.Children("/l"))

		s.hold(t, "/held")
		unread("run", "-n", "/held", "cmd").finish(notAcquired)
		unread("run", "--no-such-flag").finish(badUsage)
		for _, line := range []string{"elect --observe /held", "ls /"} { // its output is not read either
			r := unread(strings.Fields(line)...)
			r.signal(syscall.SIGTERM)
			r.finish(bySignal + int(syscall.SIGTERM))
		}
	})
}

// Commands under one lock never overlap.
func TestACounterUnderTheLockIsExact(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		const shells, each = 8, 5
		counter, inside := 0, 0
		ended := make(chan struct{})
		for range shells {
			go func() {
				defer func() { ended <- struct{}{} }()
				for range each {
					r := s.begin(t, strings.NewReader(""), "run", "/l", "cmd")
					p := <-r.commands
					inside++ // the race detector sees two at once
					n := counter
					time.Sleep(time.Millisecond)
					counter = n + 1
					inside--
					p.end(0)
					<-r.ended
				}
			}()
		}
		for range shells {
			<-ended
		}
		require.Equal(t, shells*each, counter)
		require.Zero(t, inside)
		require.Empty(t, s.Children("/l"))
	})
}
