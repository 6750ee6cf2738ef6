package main

import (
	"bytes"
	"flag"
	"io"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestRunHolds(t *testing.T) {
	for name, tc := range map[string]struct {
		orphan bool
		end    func(s *stand, r *running, t *testing.T)
		status int
	}{
		"a signal":       {false, func(_ *stand, r *running, _ *testing.T) { r.signal(syscall.SIGTERM) }, 0},
		"the pipe's end": {false, func(_ *stand, r *running, _ *testing.T) { r.stdin.Close() }, 0},
		"the parent":     {true, func(s *stand, _ *running, _ *testing.T) { close(s.parent) }, 0},
		"a revocation":   {false, func(s *stand, _ *running, t *testing.T) { s.zklock(t, "revoke", "/l") }, 0},
		"a loss":         {false, func(s *stand, _ *running, t *testing.T) { s.lose(t, "/l") }, lost},
		"a lost session": {false, func(s *stand, _ *running, t *testing.T) { s.expire(t, "/l") }, lost},
	} {
		inBubble(t, func(t *testing.T) {
			s := newStand(t)
			if tc.orphan {
				s.parent = make(chan struct{})
			}
			r := s.start(t, "run", "--hold", "/l")
			require.Regexp(t, `^holding /l with token [0-9]+\n$`, r.out.String())
			time.Sleep(time.Hour)
			require.Len(t, s.Children("/l"), 1)
			tc.end(s, r, t)
			got := r.finish(tc.status)
			require.Empty(t, s.Children("/l"), name)
			if tc.orphan {
				require.Equal(t, "zklock: /l: process 5 has ended, and the hold with it\n", got.err)
			}
		})
	}
}

// The lock is lost while zklock looks, after the grant, whether the path is of
// another kind. Nobody is told that it is held.
func TestHoldDoesNotTellOfALockThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv)
		lease, err := locks.NewInterProcessMutex(c, "/l").Acquire(t.Context())
		require.NoError(t, err)
		session := c.SessionID()
		check := srv.Inject(zktest.Rule{Op: zktest.OpAny, Path: "/l", Session: session, Do: zktest.All(
			zktest.Call(func(zktest.Request) { srv.Session(session).Expire() }), zktest.DropRequest())})
		var out bytes.Buffer
		e := &env{streams: streams{nil, &out, io.Discard}, settings: defaults(), host: host{tells: func(io.Reader) bool { return false }}}
		g := &guarded{env: e, client: c, path: "/l", kind: inspect.Mutex, stop: defineStopping(&flag.FlagSet{})}
		err = g.hold(lease)
		require.Equal(t, 1, check.Hits())
		require.Equal(t, lost, statusOf(err), "%v", err)
		require.Empty(t, out.String())
	})
}

// The line that a lock is held has a moment in the end, also after a loss, and no
// longer than it takes to read it.
func TestTheLineOfHoldHasAMomentInTheEnd(t *testing.T) {
	for name, tc := range map[string]struct{ read, want time.Duration }{
		"nobody reads it":   {time.Hour, lastWords},
		"somebody reads it": {lastWords / 4, lastWords / 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				c := curatortest.Connect(t, srv)
				lease, err := locks.NewInterProcessMutex(c, "/l").Acquire(t.Context())
				require.NoError(t, err)
				require.True(t, srv.Session(c.SessionID()).Expire())
				<-lease.Context().Done()
				e := &env{host: host{tells: func(io.Reader) bool { return false }}}
				g := &guarded{env: e, stop: defineStopping(&flag.FlagSet{})}
				told := make(chan error, 1)
				time.AfterFunc(tc.read, func() { told <- nil })
				begin := time.Now()
				require.NoError(t, g.untilHoldEnds(lease, told))
				require.Equal(t, tc.want, time.Since(begin))
			})
		})
	}
}
