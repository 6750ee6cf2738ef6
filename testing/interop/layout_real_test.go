//go:build real

package interop_test

import (
	"path"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Java has code that finds the node of a protected create whose reply was lost.
// That code understands our names.
func TestJavaTakesOurNamesApart(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		lock := lockPath(t)
		java := startPeer(t, srv.addr, longSession)
		holder := acquire(t, srv.contender(t, inGo), lock)
		name := path.Base(holder.node)

		parts := java.must(t, "protection", name)
		require.Equal(t, "lock-0000000000", parts[1])
		require.Equal(t, name, "_c_"+parts[0]+"-"+parts[1])
		require.Equal(t, []string{holder.node}, java.must(t, "participants", lock))

		_, err := java.ask(withDeadline(t), "protection", "lock-0000000000")
		require.ErrorContains(t, err, "not a protected name", "so the check can fail")
	})
}

// Each language makes the same nodes on its own path. Only their data
// about the owner differs.
func TestBothMakeTheSameNodes(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		require.Equal(t, srv.layoutOf(t, inJava), srv.layoutOf(t, inGo))
	})
}

// nodeLayout describes the nodes that an acquire has made.
type nodeLayout struct {
	name        string // without the UUID
	ephemeral   bool
	version     int32
	parentOwner int64
	parentData  string
}

var uuid = regexp.MustCompile(`^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-`)

// layoutOf also makes sure that parents are containers, since only containers
// are reaped.
func (srv *testServer) layoutOf(t *testing.T, l language) nodeLayout {
	lock := lockPath(t) + "/nested"
	g := acquire(t, srv.contender(t, l), lock)
	_, node, err := srv.observer.Get(withDeadline(t), g.node)
	require.NoError(t, err)
	data, parent, err := srv.observer.Get(withDeadline(t), lock)
	require.NoError(t, err)
	require.NoError(t, g.release())
	srv.waitReaped(t, path.Dir(lock))
	return nodeLayout{
		name:        uuid.ReplaceAllString(path.Base(g.node), ""),
		ephemeral:   node.EphemeralOwner != 0,
		version:     node.Version,
		parentOwner: parent.EphemeralOwner,
		parentData:  string(data),
	}
}

// waitReaped waits until the server has deleted an empty container.
func (srv *testServer) waitReaped(t *testing.T, path string) {
	t.Helper()
	ctx := withDeadline(t)
	require.Eventually(t, func() bool {
		srv.reap()
		ok, _, err := srv.observer.Exists(ctx, path)
		return err == nil && !ok
	}, waitLimit, 5*time.Millisecond, "%s is no empty container", path)
}
