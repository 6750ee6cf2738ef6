//go:build real

package zktest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A line of a transcript says who asked, what, and what came back: the zxid
// relative to the beginning of the script, the error code, the body. Absolute
// times and the ids of sessions are different in each run; clients have letters
// instead.
//
// The zxid of an event is left out where the real server is older than 3.9: it
// is always -1 there.

// patience is how long a script waits for a server, on a busy machine.
const patience = 20 * time.Second

// watchTheClock makes the test fail, instead of hanging, when the server is
// silent.
func (p *player) watchTheClock() {
	require.NoError(p.stage.t, p.nc.SetReadDeadline(time.Now().Add(patience)))
}

func (p *player) note(format string, args ...any) {
	p.stage.lines = append(p.stage.lines, p.name+" "+fmt.Sprintf(format, args...))
}

// describe returns the request in a form for people. The ACL that is open to
// everyone goes without saying.
func describe(op wire.Op, values []any) string {
	words := []string{op.String()}
	for _, v := range values {
		switch v := v.(type) {
		case []byte:
			words = append(words, data(v))
		case string:
			words = append(words, fmt.Sprintf("%.40q", v))
		case []wire.ACL:
			if !slices.Equal(v, datatree.OpenACL) {
				words = append(words, fmt.Sprint(v))
			}
		default:
			words = append(words, fmt.Sprint(v))
		}
	}
	return strings.Join(words, " ")
}

func data(p []byte) string {
	if p == nil {
		return "null"
	}
	return fmt.Sprintf("%.40q", p)
}

// event describes a notification.
func (s *stage) event(r reply) string {
	event := fmt.Sprint(r.event())
	if realServer.is39() {
		event += " " + s.zxid(r.zxid)
	}
	return event
}

// tell describes an answer.
func (s *stage) tell(op wire.Op, xid int32, r reply) string {
	var b strings.Builder
	b.WriteString(s.zxid(r.zxid))
	s.last = max(s.last, r.zxid)
	if r.xid != xid {
		fmt.Fprintf(&b, " xid %d", r.xid)
	}
	if r.code != wire.OK {
		fmt.Fprintf(&b, " error %d", r.code)
		if op == wire.OpMultiRead {
			r.body.Buf = nil // after the error for a multi of writes comes an empty result, which no client reads
		}
	} else {
		b.WriteString(s.body(op, r.body))
		require.NoError(s.t, r.body.Err, "the answer to %v ends too early", op)
	}
	if len(r.body.Buf) > 0 {
		fmt.Fprintf(&b, " and then %x", r.body.Buf)
	}
	return b.String()
}

// zxid leaves those without a transaction as they are: 0, and -1.
func (s *stage) zxid(z int64) string {
	if z <= 0 {
		return fmt.Sprint(z)
	}
	return fmt.Sprintf("%+d", z-s.base)
}

func (s *stage) stat(d *wire.Decoder) string {
	st := d.Stat()
	return fmt.Sprintf(" {c %s m %s p %s versions %d/%d/%d owner %s length %d children %d}",
		s.zxid(st.Czxid), s.zxid(st.Mzxid), s.zxid(st.Pzxid), st.Version, st.Cversion, st.Aversion,
		s.owner(st.EphemeralOwner), st.DataLength, st.NumChildren)
}

func (s *stage) owner(session int64) string {
	for _, p := range s.players {
		if session != 0 && p.session == session {
			return p.name
		}
	}
	return fmt.Sprint(session)
}

// body takes the body of a successful answer apart.
func (s *stage) body(op wire.Op, d *wire.Decoder) string {
	switch op {
	case wire.OpCreate, wire.OpSync:
		return " " + d.String()
	case wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL:
		return " " + d.String() + s.stat(d)
	case wire.OpExists, wire.OpSetData, wire.OpSetACL:
		return s.stat(d)
	case wire.OpGetData:
		return " " + data(d.Buffer()) + s.stat(d)
	case wire.OpGetACL:
		acls := d.ACLs()
		entries := make([]string, len(acls))
		for i, a := range acls {
			entries[i] = fmt.Sprint(a) // those that stand for "auth" have no order
		}
		return unordered(entries) + s.stat(d)
	case wire.OpGetChildren, wire.OpGetEphemerals:
		return unordered(d.Strings())
	case wire.OpGetChildren2:
		return unordered(d.Strings()) + s.stat(d)
	case wire.OpAddWatch:
		return fmt.Sprint(" ", d.Int32())
	case wire.OpMulti, wire.OpMultiRead:
		return s.results(d)
	}
	return ""
}

// unordered describes what has no order.
func unordered(list []string) string {
	slices.Sort(list)
	return fmt.Sprintf(" %q", list)
}

// results describes the parts of the answer to a multi or a multiRead.
func (s *stage) results(d *wire.Decoder) string {
	var b strings.Builder
	for d.Err == nil {
		kind, done, code := wire.Op(d.Int32()), d.Bool(), wire.Code(d.Int32())
		if done {
			fmt.Fprintf(&b, " end %d/%d", kind, code)
			break
		}
		fmt.Fprintf(&b, " [%d/%d", kind, code)
		if kind == wire.OpError {
			fmt.Fprintf(&b, " error %d", d.Int32())
		}
		b.WriteString(s.body(kind, d) + "]")
	}
	return b.String()
}
