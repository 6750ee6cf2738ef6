package zktest

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// postbox is a scheduler that keeps what the clients send and receive, except
// handshakes.
type postbox struct{ messages []*zkinside.Message }

func (p *postbox) schedule(m *zkinside.Message) {
	if m.Request.(Request).Op == wire.OpConnect {
		m.Deliver(nil)
		return
	}
	p.messages = append(p.messages, m)
}

// take returns the only message that is under way.
func (p *postbox) take(t *testing.T) *zkinside.Message {
	t.Helper()
	synctest.Wait()
	require.Len(t, p.messages, 1)
	m := p.messages[0]
	p.messages = nil
	return m
}

// scheduled runs a test with a postbox and a client.
func scheduled(t *testing.T, test func(t *testing.T, srv *Server, p *postbox, c *raw)) {
	t.Helper()
	p := &postbox{}
	bubble(t, func(t *testing.T, srv *Server) { test(t, srv, p, login(t, srv)) }, zkinside.With(zkinside.Settings{Schedule: p.schedule}).(Option))
}

func (c *raw) sendCreate(path string) {
	c.send(wire.OpCreate, path, []byte("data"), datatree.OpenACL, 0)
}

func TestSchedulerHoldsMessagesBack(t *testing.T) {
	scheduled(t, func(t *testing.T, srv *Server, p *postbox, c *raw) {
		c.send(wire.OpExists, "/a", true)
		p.take(t).Deliver(nil)
		m := p.take(t)
		require.True(t, m.Answer)
		require.Equal(t, wire.ErrNoNode, m.Request.(Request).Err)
		c.requireSilence()
		m.Deliver(nil)
		require.Equal(t, wire.ErrNoNode, c.receive().code)

		require.NoError(t, srv.Create("/a", nil))
		m = p.take(t)
		require.Equal(t, "NodeCreated", m.Event)
		require.Equal(t, "/a", m.Request.(Request).Path)
		require.Equal(t, c.session, m.Request.(Request).Session)
		c.sendCreate("/b")
		m2 := p.take(t)
		require.False(t, m2.Answer)
		require.Equal(t, "/b", m2.Request.(Request).Path)
		synctest.Wait()
		_, there := srv.Node("/b")
		require.False(t, there)
		m2.Deliver(nil)
		p.take(t).Deliver(nil)
		_, there = srv.Node("/b")
		require.True(t, there)
		c.requireSilence() // the event is ahead of the answer
		m.Deliver(nil)
		require.EqualValues(t, wire.XidNotification, c.receive().xid)
		require.EqualValues(t, c.xid, c.receive().xid)
	})
}

func TestSchedulerDoesActions(t *testing.T) {
	scheduled(t, func(t *testing.T, srv *Server, p *postbox, c *raw) {
		c.sendCreate("/a")
		m := p.take(t)
		require.False(t, m.Lost())
		m.Deliver(DropReply())
		c.requireClosed()
		_, there := srv.Node("/a")
		require.True(t, there)
		require.True(t, m.Lost())
		require.Empty(t, p.messages, "there is no answer")
		m.Deliver(Blackhole()) // which is too late
	})
}

// A request that has reached the network is carried out when it arrives, also if
// its client has gone.
func TestSchedulerDeliversWhatIsLeft(t *testing.T) {
	scheduled(t, func(t *testing.T, srv *Server, p *postbox, c *raw) {
		c.sendCreate("/a")
		m := p.take(t)
		require.NoError(t, c.nc.Close())
		synctest.Wait()
		require.False(t, m.Lost())
		m.Deliver(nil)
		synctest.Wait()
		_, there := srv.Node("/a")
		require.True(t, there)
	})
}

// With a scheduler, the order of a listing depends on the connection only.
func TestSchedulerListsInOneOrder(t *testing.T) {
	listing := func() (names []string) {
		bubble(t, func(t *testing.T, srv *Server) {
			for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				require.NoError(t, srv.Create("/"+name, nil))
			}
			names = login(t, srv).call(wire.OpGetChildren, "/", false).body.Strings()
		}, zkinside.With(zkinside.Settings{Schedule: func(m *zkinside.Message) { m.Deliver(nil) }}).(Option))
		return names
	}
	first := listing()
	require.False(t, slices.IsSorted(first))
	for range 5 {
		require.Equal(t, first, listing())
	}
}
