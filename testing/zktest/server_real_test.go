//go:build real

package zktest

import (
	"fmt"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/internal/zkserver"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// realServer is started by the first test that needs it and serves all of them.
var realServer sharedServer

func init() { closeShared = append(closeShared, realServer.close) }

// superUser are the credentials to which no ACL of the real server applies.
const superUser = "super:secret"

type sharedServer struct {
	once    sync.Once
	srv     *zkserver.Server
	version string
	fresh   []string // what inspectFreshTree saw right after the start
}

func (s *sharedServer) get(t *testing.T) *zkserver.Server {
	t.Helper()
	s.once.Do(func() { s.start(t) })
	if s.srv == nil {
		t.Fatal("no real ZooKeeper: see the first test that failed")
	}
	return s.srv
}

func (s *sharedServer) start(t *testing.T) {
	t.Helper()
	s.srv = zkserver.Start(sharedTB{t}, realServerOptions()...)
	if d, err := zkserver.Find(); err == nil {
		s.version = d.Version
	}
	s.fresh = perform(t, s.srv.Addr(), 0, inspectFreshTree)
}

// realServerOptions are the options of every real server that scripts are performed
// on.
func realServerOptions() []zkserver.Option {
	return []zkserver.Option{
		zkserver.WithSessionTimeouts(shortestSession, longestSession),
		zkserver.WithContainerCheckInterval(24 * time.Hour), // nothing may happen of which a script does not know
		zkserver.WithJVMFlags("-Dzookeeper.DigestAuthenticationProvider.superDigest=" + datatree.DigestID(superUser).ID),
	}
}

// is39 reports whether the real server is as new as the one this package
// imitates. A version that cannot be told counts as old.
func (s *sharedServer) is39() bool {
	var major, minor int
	_, _ = fmt.Sscanf(s.version, "%d.%d", &major, &minor)
	return major > 3 || major == 3 && minor >= 9
}

// isSince384 reports whether the real server is as new as 3.8.4.
func (s *sharedServer) isSince384() bool {
	var minor, patch int
	_, _ = fmt.Sscanf(s.version, "3.%d.%d", &minor, &patch)
	return minor > 8 || minor == 8 && patch >= 4
}

// isSince394 reports whether the real server is newer than 3.9.3.
func (s *sharedServer) isSince394() bool {
	var minor, patch int
	_, _ = fmt.Sscanf(s.version, "3.%d.%d", &minor, &patch)
	return minor > 9 || minor == 9 && patch >= 4
}

func (s *sharedServer) close() error {
	if s.srv == nil {
		return nil
	}
	return s.srv.Close()
}

// likewise are the options of a Server that behaves as the real one does.
func (s *sharedServer) likewise() []Option {
	if s.is39() {
		return nil
	}
	return []Option{zkinside.With(zkinside.Settings{Version38: true}).(Option)}
}

// sharedTB keeps what zkserver.Start registers for the end of one test from
// ending a server that others share.
type sharedTB struct{ *testing.T }

func (sharedTB) Cleanup(func()) {}

// past is what earlier scripts have left in the real server: the nodes that
// cannot be deleted, and the number of the last transaction.
type past struct {
	zxid  int64
	nodes map[string]Node
}

// wipe deletes all nodes of the real server, so that every script starts with a
// fresh tree, and returns what cannot be undone.
func wipe(t *testing.T, srv *zkserver.Server) past {
	t.Helper()
	awaitMetric(t, srv, "zk_global_sessions", "0", "a session is left, whose expiry would come into the script")
	c := (&stage{t: t, addr: srv.Addr()}).client()
	require.Equal(t, wire.OK, c.call(wire.OpAuth, 0, "digest", []byte(superUser)).code)
	deleteBelow(c.raw, "/")
	p := c.leave()
	awaitMetric(t, srv, "zk_num_alive_connections", "1", "a connection is left in addition to the asking one, which the script would count")
	return p
}

// leave ends the session. It returns how the tree is left: ZooKeeper's own
// nodes, and those that have stayed.
func (p *player) leave(stayed ...string) past {
	was := past{nodes: make(map[string]Node)}
	for _, path := range append(stayed, "/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config") {
		body := p.call(wire.OpGetData, path, false).body
		was.nodes[path] = Node{Path: path, Data: body.Buffer(), Stat: Stat(body.Stat())}
	}
	was.zxid = p.call(wire.OpCloseSession).zxid
	return was
}

func awaitMetric(t *testing.T, srv *zkserver.Server, name, want, otherwise string) {
	t.Helper()
	require.Eventually(t, func() bool {
		values, err := srv.Metrics(t.Context())
		return err == nil && values[name] == want
	}, 2*scriptSession*time.Millisecond, time.Millisecond, otherwise)
}

func deleteBelow(c *raw, parent string) {
	for _, name := range c.call(wire.OpGetChildren, parent, false).body.Strings() {
		node := path.Join(parent, name)
		deleteBelow(c, node)
		if !datatree.Reserved(node) {
			require.Equal(c.t, wire.OK, c.call(wire.OpDelete, node, -1).code, node)
		}
	}
}

// adopt makes a fresh server one with that past.
func (s *Server) adopt(p past) {
	s.zxid = p.zxid
	for path, was := range p.nodes {
		n, stat := s.tree.Node(path), was.Stat
		n.Data = was.Data
		n.Czxid, n.Mzxid, n.Pzxid = stat.Czxid, stat.Mzxid, stat.Pzxid
		n.Version, n.Aversion = stat.Version, stat.Aversion
		n.Created = (stat.Cversion + stat.NumChildren) / 2
	}
}
