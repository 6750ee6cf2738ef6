package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// The server still reads from a black hole while it carries out what it held.
func TestHeldRequestOfABlackHole(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.True(t, srv.Session(c.session).BlackholeDownstream())
		srv.Inject(Rule{Op: wire.OpCreate, Do: HoldRequest(time.Second)})
		c.send(wire.OpCreate, "/a", []byte(nil), datatree.OpenACL, 0)
		time.Sleep(time.Second)
		c.send(wire.OpPing)
		synctest.Wait()
		_, found := srv.Node("/a")
		require.True(t, found)
		srv.Heal()
	})
}
