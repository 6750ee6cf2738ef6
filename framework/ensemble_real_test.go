//go:build real

package framework_test

import (
	"context"
	"errors"
	"iter"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/state"
)

// directedDialer is the dialer of one client. It knows the server of the latest
// connection, and can keep the client to one.
type directedDialer struct {
	mu        sync.Mutex
	only      string
	forbidden string
	at        string
}

func (b *directedDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	b.mu.Lock()
	only, forbidden := b.only, b.forbidden
	b.mu.Unlock()
	if only != "" && only != address || forbidden == address {
		return nil, errors.New("kept to another server")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		b.mu.Lock()
		b.at = address
		b.mu.Unlock()
	}
	return conn, err
}

// keepTo lets the client make its next connections to one server only, or to
// all if address is empty.
func (b *directedDialer) keepTo(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.only = address
}

// forbid keeps the client from making its next connections to a server.
func (b *directedDialer) forbid(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forbidden = address
}

func (b *directedDialer) server() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at
}

// connectedTo returns a client of an ensemble whose first connection is to one
// of its servers, and its dialer, which from then on connects to all.
func connectedTo(t *testing.T, e *zkserver.Ensemble, first *zkserver.Server, opts ...framework.Option) (*framework.Client, *directedDialer) {
	t.Helper()
	b := &directedDialer{only: first.Addr()}
	opts = append([]framework.Option{framework.WithSessionTimeout(longSession), framework.WithDialer(b.dial)}, opts...)
	c, err := framework.New(e.ConnectString()+chroot(t), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.WaitConnected(within(t, stuck)))
	b.keepTo("")
	return c, b
}

// roles returns the leader and one of the others.
func roles(t *testing.T, e *zkserver.Ensemble) (leader, follower *zkserver.Server) {
	t.Helper()
	leader, err := e.WaitLeader(within(t, stuck))
	require.NoError(t, err)
	if e.Members()[0] != leader {
		return leader, e.Members()[0]
	}
	return leader, e.Members()[1]
}

// untilConnected returns the states up to the first that is connected.
func untilConnected(seq iter.Seq[state.State]) []state.State {
	var seen []state.State
	for s := range seq {
		if seen = append(seen, s); s.IsConnected() {
			break
		}
	}
	return seen
}

// sessionNodes are an ephemeral node and one watch of each kind, which the
// server has for a session.
type sessionNodes struct {
	node    framework.Created
	watches map[string]*framework.Watch
}

// makeSessionNodes makes them below path.
func makeSessionNodes(t *testing.T, ctx context.Context, c *framework.Client, path string) sessionNodes {
	t.Helper()
	n, err := c.Create(ctx, path+"/e", nil, framework.WithMode(framework.Ephemeral), framework.WithParents())
	require.NoError(t, err)
	es := sessionNodes{node: n, watches: map[string]*framework.Watch{}}
	_, _, es.watches["data"], err = c.GetW(ctx, path)
	require.NoError(t, err)
	_, _, es.watches["children"], err = c.ChildrenW(ctx, path)
	require.NoError(t, err)
	_, _, es.watches["exists"], err = c.ExistsW(ctx, path+"/missing")
	require.NoError(t, err)
	return es
}

// requireIntact wants the session alive, the node there, and every watch set:
// that none has fired, and that each fires when another client gives it a
// reason.
func (es sessionNodes) requireIntact(t *testing.T, ctx context.Context, c, other *framework.Client, path string) {
	t.Helper()
	require.NoError(t, es.node.Session.Context().Err())
	require.Equal(t, es.node.Session.ID(), c.SessionID())
	require.NoError(t, other.Sync(ctx, "/"))
	there, stat, err := other.Exists(ctx, es.node.Path)
	require.NoError(t, err)
	require.True(t, there)
	require.Equal(t, c.SessionID(), stat.EphemeralOwner)
	for kind, w := range es.watches {
		select {
		case <-w.Done():
			_, err := w.Event()
			require.Fail(t, "a watch has fired for nothing", "%s: %v", kind, err)
		default:
		}
	}
	_, err = other.Set(ctx, path, []byte("changed"), framework.AnyVersion)
	require.NoError(t, err)
	_, err = other.Create(ctx, path+"/missing", nil)
	require.NoError(t, err)
	for kind, want := range map[string]zk.EventType{
		"data": zk.EventNodeDataChanged, "children": zk.EventNodeChildrenChanged, "exists": zk.EventNodeCreated,
	} {
		ev, err := es.watches[kind].Wait(ctx)
		require.NoError(t, err, kind)
		require.Equal(t, want, ev.Type, kind)
	}
}

// TestWithCluster#testSessionSurvives
func TestRealEnsembleRollingRestartKeepsSessionAndWatches(t *testing.T) {
	t.Parallel()
	e := borrowEnsemble(t, ensembleLane, patient)
	ctx := within(t, stuck)
	_, first := roles(t, e)
	c, _ := connectedTo(t, e, first)
	states := c.States(ctx)
	es := makeSessionNodes(t, ctx, c, "/rolling")
	for _, s := range e.Members() {
		require.NoError(t, s.Restart())
		_, err := e.WaitLeader(ctx)
		require.NoError(t, err)
	}
	other, _ := connectedTo(t, e, e.Members()[0])
	es.requireIntact(t, ctx, c, other, "/rolling")

	require.NoError(t, c.Close())
	var seen []state.State
	for s := range states {
		seen = append(seen, s)
	}
	require.Contains(t, seen, state.Suspended, "each server was restarted, its own too")
	require.NotContains(t, seen, state.Lost)
}

// TestWithCluster#testSplitBrain: the member that has lost the others serves
// nobody. A client that can go elsewhere keeps its session; one that cannot
// loses it in time.
func TestRealEnsembleMinorityLosesItsClients(t *testing.T) {
	t.Parallel()
	const timeout, sync = 16 * time.Second, 6 * time.Second // the roaming client has what is between to find another server
	e := borrowEnsemble(t, minorityLane, sync)
	ctx := within(t, stuck)
	leader, minority := roles(t, e)
	other, _ := connectedTo(t, e, leader)
	roaming, board := connectedTo(t, e, minority, framework.WithSessionTimeout(timeout))
	captive, prison := connectedTo(t, e, minority, framework.WithSessionTimeout(timeout))
	prison.keepTo(minority.Addr())
	es := makeSessionNodes(t, ctx, roaming, "/split")
	lost, err := captive.Create(ctx, "/captive", nil, framework.WithMode(framework.Ephemeral))
	require.NoError(t, err)
	roamed, kept := roaming.States(ctx), captive.States(ctx)

	begin := time.Now()
	require.NoError(t, e.Partition(minority))
	require.Equal(t, []state.State{state.Suspended, state.Reconnected}, untilConnected(roamed))
	require.NotEqual(t, minority.Addr(), board.server())
	es.requireIntact(t, ctx, roaming, other, "/split")
	_, err = minority.Mode(ctx)
	require.ErrorIs(t, err, zkserver.ErrNotServing)

	requireLost(t, lost.Session, sync+timeout) // it was answered until the minority noticed
	t.Logf("the captive's session ended %v after the cut, of %v", time.Since(begin), timeout)
	require.NoError(t, e.Heal())
	require.Equal(t, []state.State{state.Suspended, state.Lost, state.Reconnected}, untilConnected(kept))
	require.NotEqual(t, lost.Session.ID(), captive.SessionID())
	requireGone(t, ctx, other, lost.Path)
}

// requireGone waits until a node is deleted.
func requireGone(t *testing.T, ctx context.Context, c *framework.Client, path string) {
	t.Helper()
	require.Eventually(t, func() bool {
		there, _, err := c.Exists(ctx, path)
		return err == nil && !there
	}, 30*time.Second, 100*time.Millisecond, "%s is still there", path)
}
