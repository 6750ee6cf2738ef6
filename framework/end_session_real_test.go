//go:build real

package framework_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// cuttable dials connections that a test can cut.
type cuttable struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (c *cuttable) dial(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.conns = append(c.conns, nc)
	}
	return nc, err
}

func (c *cuttable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, nc := range c.conns {
		nc.Close()
	}
	c.conns = nil
}

// soonGone reports whether a node goes away in much less than a session's
// timeout.
func soonGone(t *testing.T, c *framework.Client, path string) bool {
	t.Helper()
	for deadline := time.Now().Add(longSession / 4); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		there, _, err := c.Exists(t.Context(), path)
		require.NoError(t, err)
		if !there {
			return true
		}
	}
	return false
}

// Close has a second, for which a busy machine may stand still. It must not be
// so often.
func TestRealServerCloseRightAfterACutLeavesNoNodes(t *testing.T) {
	t.Parallel()
	srv := sharedServer(t)
	observer := realClient(t, srv, chroot(t))
	left := 0
	for i := range 5 {
		for _, pause := range []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond} {
			var network cuttable
			c := realClient(t, srv, chroot(t), framework.WithDialer(network.dial))
			path := fmt.Sprintf("/e%d-%v", i, pause)
			mustCreate(t, c, path, "", framework.WithMode(framework.Ephemeral))
			network.cut()
			<-time.After(pause)
			require.NoError(t, c.Close())
			if !soonGone(t, observer, path) {
				left++
			}
			require.LessOrEqual(t, left, 3)
		}
	}
}

// The real servers list a session's nodes, behind a sync.
func TestRealServerCloseThatKeepsANodeDeletesNoneOfAnotherClient(t *testing.T) {
	t.Parallel()
	srv := sharedServer(t)
	root := chroot(t)
	observer := realClient(t, srv, root)
	c := realClient(t, srv, root)
	keepUntil(c, mustCreate(t, c, "/kept", "", framework.WithMode(framework.Ephemeral)), time.Hour)
	mustCreate(t, c, "/own", "", framework.WithMode(framework.Ephemeral))
	mustCreate(t, c, "/n", "", framework.WithMode(framework.Ephemeral))
	require.NoError(t, observer.Delete(t.Context(), "/n", framework.AnyVersion))
	mustCreate(t, observer, "/n", "", framework.WithMode(framework.Ephemeral))
	require.NoError(t, c.Close())
	require.NoError(t, observer.Sync(t.Context(), "/"))
	names, _, err := observer.Children(t.Context(), "/")
	require.NoError(t, err)
	require.Subset(t, names, []string{"kept", "n"}) // Close has a second for the other one, see above
}
