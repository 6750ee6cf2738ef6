package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// bothCommands are command lines that run a command under /l.
var bothCommands = map[string][]string{"run": {"run", "/l", "--", "cmd"}, "elect": {"elect", "/l", "--", "cmd"}}

// with returns a command line with flags.
func with(line []string, flags ...string) []string {
	return append(append([]string{line[0]}, flags...), line[1:]...)
}

func TestTheStatusIsTheCommands(t *testing.T) {
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
			require.True(t, zkinside.Of(s.Server).PauseSession(s.first(t, "/l").Stat.EphemeralOwner))
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
		func(s *stand) { zkinside.Of(s.Server).PauseSession(s.Queue("/l")[0].Stat.EphemeralOwner) },
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
		require.Equal(t, "zklock: /l: the guard was killed, and the command with it\n", r.finish(ownFailure).err)
		require.Empty(t, s.Children("/l"))
	})
}

// Which locks a command can hold at the same time as others.
// A lock or a leader election of another kind has the path. The two would not
// exclude each other.
// Two programs of different kinds begin together, and neither sees the other
// before both have a node.
// Who waits is told once that the lock excludes others than it seems.
// -w bounds all that comes before the grant, also the first connection. Where the
// wait has run out, the status is the one for that, and the reason says that there
// is no connection. -n waits for a connection no longer than the time for that.
// The server falls silent after the handshake, when the program looks at the path.
// The servers go while the program is in the queue. The reason names both: who
// was ahead, and that there is no connection.
// The lock is held for its least time. A signal or a revocation ends that.
func TestAtLeastKeepsTheLock(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		isKept := func(r *running) {
			time.Sleep(30 * time.Minute)
			require.Empty(t, r.ended)
			require.Equal(t, notAcquired, s.zklock(t, "run", "-n", "/l", "cmd").status)
		}
		begin := func() *running {
			r := s.start(t, "run", "--at-least", "1h", "/l", "cmd")
			r.command().end(6)
			return r
		}
		r := begin()
		isKept(r)
		require.Zero(t, s.zklock(t, "revoke", "/l").status)
		r.finish(6)
		require.Empty(t, s.Children("/l"))

		r = s.start(t, "run", "--at-least", "1h", "/l", "cmd")
		p := r.command()
		r.signal(syscall.SIGTERM) // for the command, and for the time after it
		begun := time.Now()
		p.end(6)
		r.finish(6)
		require.Zero(t, time.Since(begun))

		r = begin()
		isKept(r)
		r.signal(syscall.SIGTERM)
		r.finish(6)

		begun = time.Now()
		begin().finish(6)
		require.Equal(t, time.Hour, time.Since(begun), "the time has ended by itself")
	})
}

// There is nothing to keep a lock for if no command was started.
func TestAtLeastIsForWhatWasStarted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		s.refuses = exec.ErrNotFound
		begin := time.Now()
		require.Equal(t, notFound, s.zklock(t, "run", "--at-least", "1h", "/l", "cmd").status)
		require.Zero(t, time.Since(begin))
		require.Empty(t, s.Children("/l"))
		require.Empty(t, s.Sessions())
	})
}

// A lock without a command is held until a signal, the end of the input, the end of
// the parent, a revocation, or a loss.
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

// The session timeout is known without a connection, and at once: the end of the
// command waits for nothing more than the answer that it has asked for.
func TestTheSessionTimeoutIsKnownInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv, framework.WithSessionTimeout(40*time.Second))
		g := &guarded{client: c}
		require.Equal(t, 40*time.Second, g.session().Timeout)
		srv.RefuseConnections(true)
		srv.CutAll()
		synctest.Wait()
		require.False(t, c.State().IsConnected())
		begin := time.Now()
		require.Equal(t, 40*time.Second, g.session().Timeout)
		require.Zero(t, time.Since(begin))
		time.Sleep(41 * time.Second)
		require.Zero(t, g.session(), "the session is over")
	})
}
