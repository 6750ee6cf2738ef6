package zktest

import (
	"bytes"
	"maps"
	"strconv"
	"strings"
)

// reconfigOp is reconfig. As on a server with its default configuration, it is
// switched off without [WithReconfig].
type reconfigOp struct {
	pathless
	joining, leaving, members []byte // null: the request does not speak of them
	from                      int64  // the version of the configuration to replace, -1 for any
}

func decodeReconfig(d *decoder) operation {
	return &reconfigOp{joining: d.buffer(), leaving: d.buffer(), members: d.buffer(), from: d.int64()}
}

func (o *reconfigOp) run(x *exchange, out *encoder) Code {
	var next ensembleView
	_, code := x.srv.commit(x.conn, func(tx *txn) (code Code) {
		next, code = o.apply(x.srv, tx, out)
		return code
	})
	if code == ok {
		x.srv.member.ens.adopt(next)
	}
	return code
}

// apply makes the checks in ZooKeeper's order.
func (o *reconfigOp) apply(s *Server, tx *txn, out *encoder) (next ensembleView, code Code) {
	switch {
	case !s.cfg.reconfig:
		return next, ErrReconfigDisabled
	case s.member == nil:
		return next, ErrUnimplemented
	}
	ens := s.member.ens
	if o.from != -1 && o.from != ens.view.version {
		return next, ErrBadVersion
	}
	next.version = tx.zxid
	if next.servers, code = o.change(ens.view.servers); code != ok {
		return next, code
	}
	switch {
	case next.voters() == 0:
		return next, ErrBadArguments
	case !ens.canDecide(next):
		return next, ErrNewConfigNoQuorum
	}
	n := tx.tree.nodes[configPath]
	if !tx.allows(n, permWrite) {
		return next, ErrNoAuth
	}
	tx.did(eventDataChanged, configPath, n, tx.tree.setConfig(next.text(), tx.zxid, tx.now))
	out.buffer(n.data)
	out.stat(n.stat())
	return next, ok
}

// change returns the members after the change. Numbers that are none make a real server
// fail with a marshalling error.
func (o *reconfigOp) change(now map[int64]serverSpec) (map[int64]serverSpec, Code) {
	if o.members != nil {
		return parseMembers(string(o.members))
	}
	next := maps.Clone(now)
	for _, leaving := range listed(o.leaving) {
		id, err := strconv.ParseInt(leaving, 10, 64)
		if err != nil {
			return nil, ErrMarshalling
		}
		delete(next, id)
	}
	for _, joining := range listed(o.joining) {
		if code := join(next, joining); code != ok {
			return nil, code
		}
	}
	return next, ok
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
func join(members map[int64]serverSpec, joining string) Code {
	key, spec, hasSpec := strings.Cut(joining, "=")
	key, spec = strings.TrimSpace(key), strings.TrimSpace(spec)
	if !hasSpec || key == "" || spec == "" || strings.Contains(spec, "=") {
		return ErrBadArguments
	}
	id, err := strconv.ParseInt(key[strings.LastIndexByte(key, '.')+1:], 10, 64)
	if err != nil {
		return ErrMarshalling
	}
	s, valid := parseServerSpec(spec)
	if !valid || s.client == "" {
		return ErrBadArguments
	}
	for other, o := range members {
		if other != id && s.clashesWith(o) {
			return ErrBadArguments
		}
	}
	members[id] = s
	return ok
}

// parseMembers reads a whole configuration: lines, or a list with commas. Groups and
// weights are refused.
func parseMembers(text string) (map[int64]serverSpec, Code) {
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
			return nil, ErrBadArguments
		}
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, ErrMarshalling
		}
		s, valid := parseServerSpec(strings.TrimSpace(spec))
		if !valid {
			return nil, ErrBadArguments
		}
		members[id] = s
	}
	if (ensembleView{servers: members}).voters() == 0 {
		return nil, ErrMarshalling // the fault comes from a check that real servers do not translate
	}
	return members, ok
}
