package transport

import (
	"errors"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
)

// ErrUnproven means that nothing shows that the server of the connection takes
// a multiRead. The request was not sent.
var ErrUnproven = errors.New("the server may not know this request")

// A server before 3.6 does not know multiRead. It refuses the request, and ends
// the connection. So a multiRead is sent only on a connection whose server has
// shown that it is newer:
//
//   - It has accepted a persistent watch, which came with 3.6, too.
//   - It has told of an event with its zxid, or has answered a probe as no server
//     before 3.9 does.
//
// The next connection may lead to another server, which has to show it anew.

// multiReads is what a connection knows of multiReads.
type multiReads struct {
	taken bool  // the server takes them
	probe *Call // asks for a proof, or nil
}

// learn takes an answer of the server for what it shows.
func (m *multiReads) learn(op int32, call *Call, code int32) {
	switch {
	case (op == opMultiRead || op == opAddWatch) && code == proto.CodeOK:
		m.taken = true
	case call != nil && call == m.probe && code == proto.CodeNoWatcher:
		m.taken = true
	case call != nil && call == m.probe && IsFailure(code):
		m.probe = nil
	}
}

// IsFailure reports whether an answer to the probe says nothing of the server's
// version.
func IsFailure(code int32) bool {
	return code != proto.CodeOK && code != proto.CodeNoWatcher && code != proto.CodeMarshallingError
}

// learnOfEvent takes an event for what it shows. Servers before 3.9 write -1 for
// the zxid.
func (m *multiReads) learnOfEvent(r reply) {
	m.taken = m.taken || r.zxid > 0
}

// isUnprovenLocked reports whether the request must not be sent on the
// connection.
func (c *Conn) isUnprovenLocked(r Request) bool { return r.Op == opMultiRead && !c.multiReads.taken }

// ProbeMultiRead asks the server of the connection for a proof that it takes
// multiReads. It does so once, or again after an answer for which IsFailure holds.
// It returns nil without a connection.
//
// The probe is to remove a watch of a kind that came with 3.9, from a path that
// no watch can have. A server that knows the kind says that there is no such
// watch. An older one cannot read the request, says so, and goes on. Servers
// since 3.5 know the operation, which a client uses in any case.
func (l *Link) ProbeMultiRead() *Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.conn
	if c == nil || !c.established || c.closed || l.retired {
		return nil
	}
	if c.multiReads.probe == nil {
		c.multiReads.probe, _ = c.enqueueLocked(opRemoveWatches, func(b []byte) []byte {
			return jute.AppendInt32(jute.AppendString(b, ""), int32(recursiveTable))
		}, nil)
		c.signal()
	}
	return c.multiReads.probe
}

// HasNoProof reports whether the server of the connection has answered the probe,
// and has shown in no way that it takes multiReads.
func (l *Link) HasNoProof() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.conn
	if c == nil || !c.established || c.closed || c.multiReads.taken || c.multiReads.probe == nil {
		return false
	}
	select {
	case <-c.multiReads.probe.Done():
		return true
	default:
		return false
	}
}

// recursiveTable is ZooKeeper's WatcherType for recursive watches, since 3.9.
const recursiveTable Table = 5
