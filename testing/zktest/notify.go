package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// publishLocked sends the watch events of a transaction, and closes the
// connections of the session that the transaction ends.
func (s *Server) publishLocked(zxid int64, changes []datatree.NodeChange, end sessionEnd) {
	for _, change := range changes {
		s.fireLocked(change, zxid)
	}
	if end.session == nil {
		return
	}
	for _, c := range s.connsOfLocked(end.session) {
		s.watches.RemoveAll(c) // and not only when the answer to its closing has gone out
		if c != end.closer {
			c.closeByServerLocked()
		}
	}
}

// connsOfLocked returns the connections of a session to this server. In an
// ensemble a connection that the client has given up for one to another member
// may still be there.
func (s *Server) connsOfLocked(sess *session) []*conn {
	if s.member == nil {
		if sess.conn == nil {
			return nil
		}
		return []*conn{sess.conn}
	}
	var conns []*conn
	for c := range s.conns {
		if c.sess == sess {
			conns = append(conns, c)
		}
	}
	return conns
}

// fireLocked sends the watch events of one change to the clients that may read
// the node. For the others the event is lost, and so is a watch that was good
// for one.
func (s *Server) fireLocked(change datatree.NodeChange, zxid int64) {
	if s.cfg.version.isBefore39() {
		zxid = -1
	}
	s.watches.Fire(change.Change, func(to map[*conn]struct{}, ev datatree.Change) {
		frame := wire.Notification(ev.Event, ev.Path, zxid) // shared: nobody changes it
		acl := change.ACL
		if ev.Event == wire.EventChildrenChanged {
			acl = change.ParentACL
		}
		for c := range to {
			if datatree.Permitted(acl, c.ids, wire.PermRead) {
				c.notifyLocked(frame)
			}
		}
	})
}

// notifyLocked sends a watch event.
func (c *conn) notifyLocked(frame []byte) {
	c.srv.notified++
	c.traffic.sent++
	c.srv.traffic.sent++
	c.out.push(outFrame{bytes: frame})
}
