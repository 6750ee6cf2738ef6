package zktest

import (
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A connection that the server has ended carries nothing out any more, whether
// or not the client can see the end.

func TestRequestsBehindALostOneAreLost(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.True(t, srv.Session(c.session).BlackholeDownstream())
		srv.Inject(Rule{Op: OpCreate, Path: "/a", Do: DropRequest()})
		c.send(wire.OpCreate, "/a", []byte("x"), datatree.OpenACL, 0)
		c.send(wire.OpCreate, "/b", []byte("x"), datatree.OpenACL, 0)
		synctest.Wait()
		require.Empty(t, srv.Tree())
	})
}

func TestClosedSessionsCreateNothing(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.True(t, srv.Session(c.session).BlackholeDownstream())
		c.send(wire.OpCloseSession)
		c.send(wire.OpCreate, "/e", []byte("x"), datatree.OpenACL, int(wire.FlagEphemeral))
		synctest.Wait()
		require.Empty(t, srv.Sessions())
		require.Empty(t, srv.Tree(), "an ephemeral node without a session")
	})
}

// Nothing gets through a black hole, neither an end nor a reset.
func TestEndsDoNotGetThroughABlackHole(t *testing.T) {
	for name, end := range map[string]func(srv *Server, c *raw){
		"cut":     func(srv *Server, c *raw) { srv.Session(c.session).Cut() },
		"cut all": func(srv *Server, _ *raw) { srv.CutAll() },
		"reset": func(srv *Server, c *raw) {
			srv.Inject(Rule{Do: Reset()})
			c.send(wire.OpExists, "/a", false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *Server) {
				c := login(t, srv)
				require.True(t, srv.Session(c.session).BlackholeDownstream())
				end(srv, c)
				c.requireSilence()
				require.Nil(t, srv.Session(c.session).Member())
				require.False(t, srv.Session(c.session).Cut(), "there is no connection for the server")
				srv.Heal()
				_, err := wire.ReadFrame(c.nc)
				require.ErrorIs(t, err, syscall.ECONNRESET)
			})
		})
	}
}

// Somebody who dials a server behind a black hole hears of nobody that it is
// down.
func TestStopBehindABlackHole(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		srv.BlackholeAll()
		require.NoError(t, srv.Stop())
		c := dialRaw(t, srv)
		require.NoError(t, c.nc.SetReadDeadline(time.Now().Add(time.Minute)))
		c.send(wire.OpPing) // which is no handshake
		c.requireSilence()
	})
}

// A function given to Call that ends its goroutine, as a failed assertion does,
// leaves nobody to read the connection.
func TestCallThatEndsItsGoroutine(t *testing.T) {
	for name, call := range map[string]func(func(Request)) Action{"before": Call, "after": CallAfter} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *Server) {
				c := login(t, srv)
				srv.Inject(Rule{Op: OpExists, Do: call(func(Request) { runtime.Goexit() })})
				c.send(wire.OpExists, "/a", false)
				require.NoError(t, c.nc.SetReadDeadline(time.Now().Add(time.Second)))
				c.requireClosed()
			})
		})
	}
}

// The answer to one request may not be larger than what may wait for a client.
func TestMultiReadIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Create("/large", make([]byte, 100<<10)))
		c := login(t, srv)
		reads := func(n int) (values []any) {
			for range n {
				values = append(values, wire.OpGetData, "/large", false)
			}
			return append(values, wire.OpError)
		}
		require.Equal(t, wire.OK, c.call(wire.OpMultiRead, reads(3)...).code)
		before := allocated()
		c.send(wire.OpMultiRead, reads(10_000)...) // a gigabyte
		c.requireClosed()
		require.Less(t, allocated()-before, uint64(8*maxQueued))
	})
}

// allocated returns how many bytes the program has allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
