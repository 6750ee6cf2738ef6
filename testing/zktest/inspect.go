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

// Node returns the node at path and whether there is one. An invalid path fails
// the test of the server; for a server of [Run] there is no such node.
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

// Children returns the names of the children of a node, sorted; nil if there
// are none. An invalid path is refused as by [Server.Node].
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

// Queue returns the sequential nodes below path in the order of their numbers, such as
// the contenders for a lock. At the end of the sequence, where numbers repeat or are
// negative, the order is the order of creation. Queue omits children without a number.
// It recognizes a negative number after a dash, as in the names of recipes. An invalid
// path is refused as by [Server.Node].
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

// byArrival compares two sequential nodes. Nodes with the last number and
// beyond are told apart by the transactions that created them, and within a
// multi by the numbers.
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

// sequenceOf returns the number at the end of the name of a sequential node:
// ten characters, or a minus sign and ten digits. The dash in n-0000000001 is a
// part of the name. The second one in n--2147483648 is the number's minus sign.
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

// Dump returns sessions, nodes and watches in a form for people, to be printed
// when a test fails.
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

// Node is a node as it is now.
type Node struct {
	Path string
	Data []byte
	Stat Stat
	ACL  []ACL
}

// Stat is what a client sees of a node besides its data.
type Stat struct {
	Czxid, Mzxid                int64 // transactions that created the node and last changed its data
	Ctime, Mtime                int64 // the same two, in milliseconds since 1970
	Version, Cversion, Aversion int32 // how often the data, the children and the ACL were changed
	EphemeralOwner              int64 // session of an ephemeral node, else 0
	DataLength, NumChildren     int32
	Pzxid                       int64 // transaction that last created or deleted a child
}

// ACL grants permissions to a client, or a group of them.
type ACL struct {
	Perms      int32
	Scheme, ID string
}

// Watch is a watch as it is now. A persistent watch, in ZooKeeper's sense, is
// in both tables and thus counts as two.
type Watch struct {
	Session int64
	Path    string
	// Child is true for a watch on the node's children, which getChildren
	// leaves, and false for one on the node itself, which getData and exists
	// leave.
	Child      bool
	Persistent bool // stays after an event
	Recursive  bool // stays, and covers everything below
}

// table names the table that the watch is in.
func (w Watch) table() string {
	if w.Child {
		return "child"
	}
	return "data"
}

// SessionInfo is a session as it is now.
type SessionInfo struct {
	ID         int64
	Timeout    time.Duration // the negotiated timeout
	Deadline   time.Time     // it expires then unless the client is heard of
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
