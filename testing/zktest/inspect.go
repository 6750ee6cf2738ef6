package zktest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
)

// Node returns the node at a path, and whether it exists. An invalid path fails the test
// of the server. For a server of [Run], an invalid path has no node.
func (s *Server) Node(path string) (Node, bool) {
	if !datatree.ValidPath(path) {
		_ = s.invalidPath(path)
		return Node{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.tree.Node(path)
	if n == nil {
		return Node{}, false
	}
	return export(path, n), true
}

// export returns a copy of a node for users.
func export(path string, n *datatree.Node) Node {
	node := Node{Path: path, Data: bytes.Clone(n.Data), Stat: Stat(n.Stat())}
	for _, a := range n.ACL {
		node.ACL = append(node.ACL, ACL{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID.ID})
	}
	return node
}

// Children returns the sorted names of a node's children, or nil if there are none. For
// an invalid path, see [Server.Node].
func (s *Server) Children(path string) []string {
	if !datatree.ValidPath(path) {
		_ = s.invalidPath(path)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.tree.Node(path)
	if n == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.Children))
}

// Tree returns every node below the root, parents before children and children
// by name, without ZooKeeper's own nodes below /zookeeper.
func (s *Server) Tree() []Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.belowLocked("/")
}

// belowLocked returns the nodes below path, without ZooKeeper's own.
func (r *replica) belowLocked(path string) []Node {
	var nodes []Node
	r.tree.Walk(path, func(p string, n *datatree.Node) {
		if p != path && p != "/zookeeper" && !strings.HasPrefix(p, "/zookeeper/") {
			nodes = append(nodes, export(p, n))
		}
	})
	return nodes
}

// Sessions returns the sessions that are alive, oldest first.
func (s *Server) Sessions() []SessionInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []SessionInfo
	for _, sess := range s.oldestFirstLocked() {
		list = append(list, SessionInfo{
			ID: sess.id, Timeout: sess.timeout, Deadline: sess.deadline,
			Connected:  sess.connLocked() != nil,
			Ephemerals: s.tree.EphemeralsOf(sess.id),
			WatchCount: s.watches.CountOf(sess.connLocked()),
		})
	}
	return list
}

// Watches returns all watches, by path, then kind, then session.
func (s *Server) Watches() []Watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Watch
	for key, w := range s.watches.All() {
		list = append(list, Watch{
			Session: w.Conn.sess.id, Path: key.Path, Child: key.Kind == datatree.WatchChild,
			Persistent: w.Mode&(datatree.WatchPersistent|datatree.WatchRecursive) != 0,
			Recursive:  w.Mode&datatree.WatchRecursive != 0,
		})
	}
	slices.SortFunc(list, compareWatches)
	return list
}

// Queue returns the sequential nodes below a path in the order of their numbers. For a
// recipe that queues, that is the order of the contenders. At the end of the sequence,
// where numbers repeat or are negative, the order is the order of creation. Queue leaves
// out children without a number. It recognizes a negative number after a dash, with which
// the recipes' names end. For an invalid path, see [Server.Node].
func (s *Server) Queue(path string) []Node {
	if !datatree.ValidPath(path) {
		_ = s.invalidPath(path)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.tree.Node(path)
	if n == nil {
		return nil
	}
	var queue []Node
	for name := range n.Children {
		if _, numbered := sequenceOf(name); numbered {
			child := datatree.ChildOf(path, name)
			queue = append(queue, export(child, s.tree.Node(child)))
		}
	}
	slices.SortFunc(queue, byArrival)
	return queue
}

// byArrival compares two sequential nodes. From the last number on, the transactions that
// created the nodes give the order, and within a multi the numbers do.
func byArrival(a, b Node) int {
	i, _ := sequenceOf(a.Path)
	j, _ := sequenceOf(b.Path)
	const last = math.MaxInt32
	return cmp.Or(
		cmp.Compare(min(uint32(i), last), min(uint32(j), last)),
		cmp.Compare(a.Stat.Czxid, b.Stat.Czxid),
		cmp.Compare(uint32(i), uint32(j)),
		cmp.Compare(a.Path, b.Path))
}

// sequenceOf returns the number at the end of a sequential node's name: ten characters,
// or a minus sign and ten digits. In n-0000000001, the dash is a part of the name. In
// n--2147483648, the second dash is the number's minus sign.
func sequenceOf(name string) (int32, bool) {
	const width = 10
	start := len(name) - width
	if start < 0 || name[start] == '+' {
		return 0, false
	}
	if rest, minus := strings.CutSuffix(name[:start], "-"); minus && strings.HasSuffix(rest, "-") {
		start--
	}
	n, err := strconv.ParseInt(name[start:], 10, 32)
	return int32(n), err == nil
}

// Dump returns a readable text with the sessions, nodes and watches, for the message of a
// failed test.
func (s *Server) Dump() string {
	var b strings.Builder
	stats := s.Stats()
	fmt.Fprintf(&b, "%s, zxid %d, %d connections\n", stats.Mode, stats.Zxid, stats.Connections)
	for _, sess := range s.Sessions() {
		fmt.Fprintf(&b, "session %#x timeout %v connected %t\n", sess.ID, sess.Timeout, sess.Connected)
	}
	for _, n := range s.Tree() {
		fmt.Fprintf(&b, "node %s version %d", n.Path, n.Stat.Version)
		if n.Stat.EphemeralOwner != 0 {
			fmt.Fprintf(&b, " of %#x", n.Stat.EphemeralOwner)
		}
		fmt.Fprintf(&b, " %q\n", n.Data)
	}
	for _, w := range s.Watches() {
		fmt.Fprintf(&b, "watch %s %s by %#x\n", w.table(), w.Path, w.Session)
	}
	return b.String()
}

// Node is a copy of a node.
type Node struct {
	Path string
	Data []byte
	Stat Stat
	ACL  []ACL
}

// Stat is a node's Stat, as clients receive it.
type Stat struct {
	Czxid, Mzxid                int64 // the transactions that created the node and last changed its data
	Ctime, Mtime                int64 // the times of these transactions, in milliseconds since 1970
	Version, Cversion, Aversion int32 // how often the data, the children and the ACL were changed
	EphemeralOwner              int64 // the session of an ephemeral node, otherwise 0
	DataLength, NumChildren     int32
	Pzxid                       int64 // the transaction that last created or deleted a child
}

// ACL grants permissions to a client or to several clients.
type ACL struct {
	Perms      int32
	Scheme, ID string
}

// Watch is a watch of a client. A persistent watch counts as two, because it is in the
// tables for data and for children.
type Watch struct {
	Session int64
	Path    string
	// Child is true for a watch on the node's children, set by getChildren, and false
	// for a watch on the node itself, set by getData and exists.
	Child      bool
	Persistent bool // the watch stays after an event
	Recursive  bool // the watch stays, and covers everything below the node
}

// table names the table that the watch is in.
func (w Watch) table() string {
	if w.Child {
		return "child"
	}
	return "data"
}

// SessionInfo is the state of a session.
type SessionInfo struct {
	ID         int64
	Timeout    time.Duration // the negotiated timeout
	Deadline   time.Time     // when the session expires if the client sends nothing
	Connected  bool          // the server sees a connection, which may be a black hole
	Ephemerals []string      // paths, sorted
	WatchCount int           // watches at the server that was asked
}

// compareWatches is the order in which watches are listed.
func compareWatches(a, b Watch) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), compareBool(a.Child, b.Child), cmp.Compare(a.Session, b.Session))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
