//go:build real

package interop_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// These tests run Java Curator's own recipes between two Java processes. zktest
// must provide everything that they need of a server. The same scenarios on the
// real server show that the tests are right.

// shortWaitMs is how long to wait for something that must not happen.
const shortWaitMs = 200 // milliseconds

// waitLimitMs is how long Java waits for something that must happen.
var waitLimitMs = waitLimit.Milliseconds()

// javaPair runs a scenario of two Java processes on both servers.
func javaPair(t *testing.T, scenario func(t *testing.T, srv *testServer, path string, one, two *peer)) {
	t.Helper()
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		one, two := startPeer(t, srv.addr, longSession), startPeer(t, srv.addr, longSession)
		scenario(t, srv, lockPath(t), one, two)
	})
}

// timesOut requires that Java gives up waiting.
func (p *peer) timesOut(t *testing.T, command ...any) {
	t.Helper()
	_, err := p.ask(withDeadline(t), command...)
	require.ErrorIs(t, err, errTimeout)
}

// held acquires and returns the path of the node and its czxid.
func (p *peer) held(t *testing.T, name, path, kind string) (node string, czxid int64) {
	t.Helper()
	words := p.must(t, "acquire", name, path, waitLimitMs, kind)
	require.Len(t, words, 2)
	czxid, err := strconv.ParseInt(words[1], 10, 64)
	require.NoError(t, err)
	return words[0], czxid
}

func TestJavaReadWriteLockOnItsOwn(t *testing.T) {
	javaPair(t, func(t *testing.T, srv *testServer, path string, one, two *peer) {
		_, first := one.held(t, "a", path, "read")
		_, second := two.held(t, "b", path, "read")
		require.Greater(t, second, first)
		two.timesOut(t, "acquire", "c", path, shortWaitMs, "write")
		one.must(t, "release", "a")
		two.must(t, "release", "b")
		two.held(t, "c", path, "write")
		one.timesOut(t, "acquire", "a", path, shortWaitMs, "read")

		// The writer becomes a reader, so others may read with it.
		two.held(t, "c", path, "read")
		one.timesOut(t, "acquire", "a", path, shortWaitMs, "read")
		two.must(t, "release", "c")
		two.must(t, "release", "c")
		one.held(t, "a", path, "read")
		one.must(t, "release", "a")
		srv.requireNothingLeft(t, path)
	})
}

func TestJavaSemaphoreOnItsOwn(t *testing.T) {
	javaPair(t, func(t *testing.T, srv *testServer, path string, one, two *peer) {
		node, _ := one.held(t, "a", path, "lease-2")
		other, _ := two.held(t, "b", path, "lease-2")
		got := two.must(t, "participants", path, "lease-2")
		require.Len(t, got, 2)
		require.NotEqual(t, node, other)
		two.timesOut(t, "acquire", "c", path, shortWaitMs, "lease-2")
		one.must(t, "kill-session")
		two.held(t, "c", path, "lease-2")
		two.must(t, "release", "b")
		two.must(t, "release", "c")
		srv.waitNodes(t, path+"/leases", 0)
		srv.waitNodes(t, path+"/locks", 0)
	})
}

func TestJavaLeaderLatchOnItsOwn(t *testing.T)    { javaLeaders(t, "latch") }
func TestJavaLeaderSelectorOnItsOwn(t *testing.T) { javaLeaders(t, "selector") }

// javaLeaders hands leadership over by resignation, and then by the end of a
// session.
func javaLeaders(t *testing.T, kind string) {
	javaPair(t, func(t *testing.T, srv *testServer, path string, one, two *peer) {
		candidates := []struct {
			*peer
			name string
		}{{one, "a"}, {two, "b"}, {one, "c"}, {two, "d"}}
		for i, c := range candidates {
			c.must(t, "lead", c.name, path, kind)
			srv.waitNodes(t, path, i+1)
		}
		one.must(t, "await-leadership", "a", waitLimitMs)
		require.Equal(t, []string{"a"}, two.must(t, "leader", "d"))
		two.timesOut(t, "await-leadership", "b", shortWaitMs)
		one.must(t, "resign", "a")
		two.must(t, "await-leadership", "b", waitLimitMs)
		one.timesOut(t, "await-leadership", "c", shortWaitMs)
		two.must(t, "kill-session")
		one.must(t, "await-leadership", "c", waitLimitMs)
		require.Equal(t, []string{"c"}, one.must(t, "leader", "c"))
		for _, c := range candidates[1:] {
			c.must(t, "resign", c.name)
		}
		srv.requireNothingLeft(t, path)
	})
}

func TestJavaSharedCountOnItsOwn(t *testing.T) {
	javaPair(t, func(t *testing.T, srv *testServer, path string, one, two *peer) {
		require.Equal(t, []string{"0"}, two.must(t, "count", path))
		one.must(t, "count-set", path, 7)
		two.must(t, "count-await", path, 7, waitLimitMs)
		two.must(t, "count-set", path, 8, 7)
		one.must(t, "count-await", path, 8, waitLimitMs)
		_, err := one.ask(withDeadline(t), "count-set", path, 9, 7)
		require.ErrorContains(t, err, "it is 8")
		data, _, err := srv.observer.Get(withDeadline(t), path)
		require.NoError(t, err)
		require.Equal(t, []byte{0, 0, 0, 8}, data)
	})
}

func TestJavaRevocationOnItsOwn(t *testing.T) {
	javaPair(t, func(t *testing.T, srv *testServer, path string, one, two *peer) {
		node, _ := one.held(t, "a", path, "revocable")
		one.timesOut(t, "await-revocation", "a", shortWaitMs)
		two.must(t, "revoke", node)
		one.must(t, "await-revocation", "a", waitLimitMs)
		one.must(t, "release", "a")
		srv.requireNothingLeft(t, path)
	})
}

// Many threads of two processes compete for a semaphore, a read/write lock and
// a mutex at the same time.
func TestJavaContentionOnItsOwn(t *testing.T) {
	javaPair(t, func(t *testing.T, srv *testServer, path string, one, two *peer) {
		contenders := []struct{ kind, path string }{
			{"lease-2", "-leases"}, {"lease-2", "-leases"}, {"lease-2", "-leases"},
			{"read", "-sides"}, {"write", "-sides"}, {"read", "-sides"},
			{"mutex", "-mutex"}, {"mutex", "-mutex"},
		}
		ended := make(chan error)
		for i, c := range contenders {
			for _, p := range []*peer{one, two} {
				go func() { ended <- p.cycleLock(t.Context(), fmt.Sprint(c.kind, i), path+c.path, c.kind) }()
			}
		}
		for range 2 * len(contenders) {
			require.NoError(t, <-ended)
		}
		for _, below := range []string{"-leases/leases", "-leases/locks", "-sides", "-mutex"} {
			srv.requireNothingLeft(t, path+below)
		}
	})
}

// cycleLock acquires and releases a few times.
func (p *peer) cycleLock(ctx context.Context, name, path, kind string) error {
	for range 8 {
		if _, err := p.ask(ctx, "acquire", name, path, waitLimitMs, kind); err != nil {
			return err
		}
		if _, err := p.ask(ctx, "release", name); err != nil {
			return err
		}
	}
	return nil
}
