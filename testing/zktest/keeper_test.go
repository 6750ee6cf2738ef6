package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestClickHouseKeeperAnswersInItsOwnWay(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, srv *Server, c *raw){
		"an error of a multiRead": func(t *testing.T, _ *Server, c *raw) {
			r := c.call(wire.OpMultiRead, wire.OpGetData, "/none", false, wire.OpGetChildren, "/none", false, wire.OpError)
			require.Equal(t, wire.OK, r.code)
			requireMultiHeader(t, r.body, wire.OpGetData, wire.ErrNoNode)
			requireMultiHeader(t, r.body, wire.OpGetChildren, wire.ErrNoNode)
			requireMultiHeader(t, r.body, wire.OpError, wire.ErrEnd)
			require.Empty(t, r.body.Buf)
		},
		"a deletion": func(t *testing.T, srv *Server, _ *raw) {
			require.NoError(t, srv.Create("/p/a", nil))
			before, _ := srv.Node("/p")
			require.NoError(t, srv.Delete("/p/a"))
			after, _ := srv.Node("/p")
			require.Equal(t, before.Stat.Pzxid, after.Stat.Pzxid)
			require.Zero(t, after.Stat.NumChildren)
		},
		"a container": func(t *testing.T, srv *Server, c *raw) {
			c.send(wire.OpCreateContainer, "/c", []byte{}, datatree.OpenACL, int(wire.FlagContainer))
			c.requireClosed()
			require.Equal(t, []string{"zookeeper"}, srv.Children("/"))
		},
		"an event of a recursive watch": func(t *testing.T, srv *Server, c *raw) {
			require.NoError(t, srv.Create("/p/a", nil))
			require.Equal(t, wire.OK, c.call(wire.OpAddWatch, "/p", 1).code)
			require.NoError(t, srv.Set("/p/a", nil))
			require.Equal(t, datatree.Change{Event: wire.EventDataChanged, Path: "/p"}, c.receive().event())
		},
		"a session that is over": func(t *testing.T, srv *Server, c *raw) {
			before := c.session
			srv.Session(before).Expire()
			c.requireClosed()
			again := dialRaw(t, srv)
			require.True(t, again.handshake(0, 10_000, before, c.password))
			require.NotZero(t, again.session)
			require.NotEqual(t, before, again.session)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *Server) { test(t, srv, login(t, srv)) }, zkinside.With(zkinside.Settings{ClickHouseKeeper: true}).(Option))
		})
	}
}

func requireMultiHeader(t *testing.T, d *wire.Decoder, op wire.Op, code wire.Code) {
	t.Helper()
	require.Equal(t, op, wire.Op(d.Int32()))
	require.Equal(t, op == wire.OpError && code == wire.ErrEnd, d.Bool())
	require.Equal(t, code, wire.Code(d.Int32()))
}
