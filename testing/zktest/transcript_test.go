package zktest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// A line of a transcript says who asked, what, and what came back: the zxid
// relative to the beginning of the script, the error code, the body. Absolute times
// and the ids of sessions are different in each run; clients have letters instead.
//
// The zxid of an event is left out where the real server is older than 3.9: it is
// always -1 there.

// watchTheClock makes the test fail, instead of hanging, when the server is silent.
func (p *player) watchTheClock() {
	require.NoError(p.stage.t, p.nc.SetReadDeadline(time.Now().Add(20*time.Second)))
}

func (p *player) note(format string, args ...any) {
	p.stage.lines = append(p.stage.lines, p.name+" "+fmt.Sprintf(format, args...))
}

// describe returns the request in a form for people. The ACL that is open to
// everyone goes without saying.
func describe(op Op, values []any) string {
	words := []string{op.String()}
	for _, v := range values {
		switch v := v.(type) {
		case []byte:
			words = append(words, data(v))
		case string:
			words = append(words, fmt.Sprintf("%.40q", v))
		case []ACL:
			if !slices.Equal(v, openACL) {
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
func (s *stage) tell(op Op, xid int32, r reply) string {
	var b strings.Builder
	b.WriteString(s.zxid(r.zxid))
	s.last = max(s.last, r.zxid)
	if r.xid != xid {
		fmt.Fprintf(&b, " xid %d", r.xid)
	}
	if r.code != ok {
		fmt.Fprintf(&b, " error %d", r.code)
		if op == OpMultiRead {
			r.body.b = nil // after the error for a multi of writes comes an empty result, which no client reads
		}
	} else {
		b.WriteString(s.body(op, r.body))
		require.NoError(s.t, r.body.err, "the answer to %v ends too early", op)
	}
	if len(r.body.b) > 0 {
		fmt.Fprintf(&b, " and then %x", r.body.b)
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

func (s *stage) stat(d *decoder) string {
	st := readStat(d)
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
func (s *stage) body(op Op, d *decoder) string {
	switch op {
	case OpCreate, OpSync:
		return " " + d.string()
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		return " " + d.string() + s.stat(d)
	case OpExists, OpSetData, OpSetACL:
		return s.stat(d)
	case OpGetData:
		return " " + data(d.buffer()) + s.stat(d)
	case OpGetACL:
		acls := d.acls()
		entries := make([]string, len(acls))
		for i, a := range acls {
			entries[i] = fmt.Sprint(a) // those that stand for "auth" have no order
		}
		return unordered(entries) + s.stat(d)
	case OpGetChildren, OpGetEphemerals:
		return unordered(d.strings())
	case OpGetChildren2:
		return unordered(d.strings()) + s.stat(d)
	case OpGetAllChildrenNumber, OpAddWatch:
		return fmt.Sprint(" ", d.int32())
	case OpWhoAmI:
		return unordered(identities(d))
	case OpSASL:
		return " " + data(d.buffer())
	case OpMulti, OpMultiRead:
		return s.results(d)
	}
	return ""
}

// unordered describes what has no order.
func unordered(list []string) string {
	slices.Sort(list)
	return fmt.Sprintf(" %q", list)
}

func identities(d *decoder) []string {
	list := make([]string, d.count(8))
	for i := range list {
		list[i] = d.string() + "=" + d.string()
	}
	return list
}

// results describes the parts of the answer to a multi or a multiRead.
func (s *stage) results(d *decoder) string {
	var b strings.Builder
	for d.err == nil {
		kind, done, code := Op(d.int32()), d.bool(), Code(d.int32())
		if done {
			fmt.Fprintf(&b, " end %d/%d", kind, code)
			break
		}
		fmt.Fprintf(&b, " [%d/%d", kind, code)
		if kind == opError {
			fmt.Fprintf(&b, " error %d", d.int32())
		}
		b.WriteString(s.body(kind, d) + "]")
	}
	return b.String()
}
