package main

import (
	"bytes"
	"flag"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

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
		err = g.hold(lease, 0)
		require.Equal(t, 1, check.Hits())
		require.Equal(t, lost, statusOf(err), "%v", err)
		require.Empty(t, out.String())
	})
}
