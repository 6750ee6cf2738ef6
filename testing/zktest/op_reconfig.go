package zktest

import (
	"bytes"
	"maps"
	"strconv"
	"strings"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// reconfigOp is reconfig. As on a server with its default configuration, it is
// switched off without [WithReconfig].
type reconfigOp struct {
	pathless
	joining, leaving, members []byte // null: the request does not speak of them
	from                      int64  // the version of the configuration to replace, -1 for any
}

func decodeReconfig(d *wire.Decoder) operation {
	return &reconfigOp{joining: d.Buffer(), leaving: d.Buffer(), members: d.Buffer(), from: d.Int64()}
}

func (o *reconfigOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	var next ensembleView
	_, code := x.srv.commitLocked(x.conn, func(tx *datatree.Txn) (code wire.Code) {
		next, code = o.applyLocked(x.srv, tx, out)
		return code
	})
	if code == wire.OK {
		x.srv.ens.adoptLocked(next)
	}
	return code
}

// applyLocked makes the checks in ZooKeeper's order.
func (o *reconfigOp) applyLocked(s *Server, tx *datatree.Txn, out *wire.Encoder) (next ensembleView, code wire.Code) {
	switch {
	case !s.cfg.reconfig:
		return next, wire.ErrReconfigDisabled
	case s.member == nil:
		return next, wire.ErrUnimplemented
	}
	ens := s.ens
	if o.from != -1 && o.from != ens.view.version {
		return next, wire.ErrBadVersion
	}
	next.version = tx.Zxid
	if next.servers, code = o.change(ens.view.servers); code != wire.OK {
		return next, code
	}
	switch {
	case next.voters() == 0:
		return next, wire.ErrBadArguments
	case !ens.canDecideLocked(next):
		return next, wire.ErrNewConfigNoQuorum
	}
	text := next.text()
	stat, code := tx.SetConfig(text)
	if code != wire.OK {
		return next, code
	}
	out.Buffer(text)
	out.Stat(stat)
	return next, wire.OK
}

// change returns the members after the change. Numbers that are none make a
// real server fail with a marshalling error.
func (o *reconfigOp) change(now map[int64]serverSpec) (map[int64]serverSpec, wire.Code) {
	if o.members != nil {
		return parseMembers(string(o.members))
	}
	next := maps.Clone(now)
	for _, leaving := range listed(o.leaving) {
		id, err := strconv.ParseInt(leaving, 10, 64)
		if err != nil {
			return nil, wire.ErrMarshalling
		}
		delete(next, id)
	}
	for _, joining := range listed(o.joining) {
		if code := join(next, joining); code != wire.OK {
			return nil, code
		}
	}
	return next, wire.OK
}

// listed returns the elements of a list with commas.
func listed(list []byte) (elements []string) {
	for part := range bytes.SplitSeq(list, []byte(",")) {
		if part = bytes.TrimSpace(part); len(part) > 0 {
			elements = append(elements, string(part))
		}
	}
	return elements
}

// join adds a member, or replaces it.
func join(members map[int64]serverSpec, joining string) wire.Code {
	key, spec, hasSpec := strings.Cut(joining, "=")
	key, spec = strings.TrimSpace(key), strings.TrimSpace(spec)
	if !hasSpec || key == "" || spec == "" || strings.Contains(spec, "=") {
		return wire.ErrBadArguments
	}
	id, err := strconv.ParseInt(key[strings.LastIndexByte(key, '.')+1:], 10, 64)
	if err != nil {
		return wire.ErrMarshalling
	}
	s, valid := parseServerSpec(spec)
	if !valid || s.client == "" {
		return wire.ErrBadArguments
	}
	for other, o := range members {
		if other != id && s.clashesWith(o) {
			return wire.ErrBadArguments
		}
	}
	members[id] = s
	return wire.OK
}

// parseMembers reads a whole configuration: lines, or a list with commas.
// Groups and weights are refused.
func parseMembers(text string) (map[int64]serverSpec, wire.Code) {
	members := make(map[int64]serverSpec)
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ",", "\n"), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		key, spec, _ := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		number, isServer := strings.CutPrefix(key, "server.")
		if key == "version" {
			continue
		}
		if !isServer {
			return nil, wire.ErrBadArguments
		}
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, wire.ErrMarshalling
		}
		s, valid := parseServerSpec(strings.TrimSpace(spec))
		if !valid {
			return nil, wire.ErrBadArguments
		}
		members[id] = s
	}
	if (ensembleView{servers: members}).voters() == 0 {
		return nil, wire.ErrMarshalling // the fault comes from a check that real servers do not translate
	}
	return members, wire.OK
}
