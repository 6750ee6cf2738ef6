package interop_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Java Curator's own recipes, between two Java processes: what they need of a server, zktest gives them. That the
// scenarios are told rightly is proven on the real one.

// soon is how long to wait for what must not happen.
const soon = 200 // milliseconds

// patienceMs is how long Java waits for what must happen.
var patienceMs = tooLong.Milliseconds()

// javaPair runs a scenario of two Java processes in both worlds.
func javaPair(t *testing.T, scenario func(t *testing.T, w *world, path string, one, two *peer)) {
	t.Helper()
	inBothWorlds(t, func(t *testing.T, w *world) {
		scenario(t, w, lockPath(t), startPeer(t, w.addr, longSession), startPeer(t, w.addr, longSession))
	})
}

// timesOut requires that Java gives up a wait.
func (p *peer) timesOut(t *testing.T, command ...any) {
	t.Helper()
	_, err := p.ask(patience(t), command...)
	require.ErrorIs(t, err, errTimeout)
}

// held acquires and returns the node's path and its czxid.
func (p *peer) held(t *testing.T, name, path, kind string) (node string, czxid int64) {
	t.Helper()
	words := p.must(t, "acquire", name, path, patienceMs, kind)
	require.Len(t, words, 2)
	czxid, err := strconv.ParseInt(words[1], 10, 64)
	require.NoError(t, err)
	return words[0], czxid
}

func TestJavaReadWriteLockOnItsOwn(t *testing.T) {
	javaPair(t, func(t *testing.T, w *world, path string, one, two *peer) {
		_, first := one.held(t, "a", path, "read")
		_, second := two.held(t, "b", path, "read")
		require.Greater(t, second, first)
		two.timesOut(t, "acquire", "c", path, soon, "write")
		one.must(t, "release", "a")
		two.must(t, "release", "b")
		two.held(t, "c", path, "write")
		one.timesOut(t, "acquire", "a", path, soon, "read")

		// The writer goes on as a reader: others may read with it.
		two.held(t, "c", path, "read")
		one.timesOut(t, "acquire", "a", path, soon, "read")
		two.must(t, "release", "c")
		two.must(t, "release", "c")
		one.held(t, "a", path, "read")
		one.must(t, "release", "a")
		w.nothingLeft(t, path)
	})
}

func TestJavaSemaphoreOnItsOwn(t *testing.T) {
	javaPair(t, func(t *testing.T, w *world, path string, one, two *peer) {
		node, _ := one.held(t, "a", path, "lease-2")
		other, _ := two.held(t, "b", path, "lease-2")
		got := two.must(t, "participants", path, "lease-2")
		require.Len(t, got, 2)
		require.NotEqual(t, node, other)
		two.timesOut(t, "acquire", "c", path, soon, "lease-2")
		one.must(t, "kill-session")
		two.held(t, "c", path, "lease-2")
		two.must(t, "release", "b")
		two.must(t, "release", "c")
		w.waitNodes(t, path+"/leases", 0)
		w.waitNodes(t, path+"/locks", 0)
	})
}

func TestJavaLeaderLatchOnItsOwn(t *testing.T)    { javaLeaders(t, "latch") }
func TestJavaLeaderSelectorOnItsOwn(t *testing.T) { javaLeaders(t, "selector") }

// javaLeaders hands leadership over by resignation, and then by the end of a session.
func javaLeaders(t *testing.T, kind string) {
	javaPair(t, func(t *testing.T, w *world, path string, one, two *peer) {
		candidates := []struct {
			*peer
			name string
		}{{one, "a"}, {two, "b"}, {one, "c"}, {two, "d"}}
		for i, c := range candidates {
			c.must(t, "lead", c.name, path, kind)
			w.waitNodes(t, path, i+1)
		}
		one.must(t, "await-leadership", "a", patienceMs)
		require.Equal(t, []string{"a"}, two.must(t, "leader", "d"))
		two.timesOut(t, "await-leadership", "b", soon)
		one.must(t, "resign", "a")
		two.must(t, "await-leadership", "b", patienceMs)
		one.timesOut(t, "await-leadership", "c", soon)
		two.must(t, "kill-session")
		one.must(t, "await-leadership", "c", patienceMs)
		require.Equal(t, []string{"c"}, one.must(t, "leader", "c"))
		for _, c := range candidates[1:] {
			c.must(t, "resign", c.name)
		}
		w.nothingLeft(t, path)
	})
}

func TestJavaSharedCountOnItsOwn(t *testing.T) {
	javaPair(t, func(t *testing.T, w *world, path string, one, two *peer) {
		require.Equal(t, []string{"0"}, two.must(t, "count", path))
		one.must(t, "count-set", path, 7)
		two.must(t, "count-await", path, 7, patienceMs)
		two.must(t, "count-set", path, 8, 7)
		one.must(t, "count-await", path, 8, patienceMs)
		_, err := one.ask(patience(t), "count-set", path, 9, 7)
		require.ErrorContains(t, err, "it is 8")
		data, _, err := w.observer.Get(patience(t), path)
		require.NoError(t, err)
		require.Equal(t, []byte{0, 0, 0, 8}, data)
	})
}

func TestJavaRevocationOnItsOwn(t *testing.T) {
	javaPair(t, func(t *testing.T, w *world, path string, one, two *peer) {
		node, _ := one.held(t, "a", path, "revocable")
		one.timesOut(t, "await-revocation", "a", soon)
		two.must(t, "revoke", node)
		one.must(t, "await-revocation", "a", patienceMs)
		one.must(t, "release", "a")
		w.nothingLeft(t, path)
	})
}

// Many threads of two processes contend for a semaphore, a read/write lock and a mutex at once.
func TestJavaContentionOnItsOwn(t *testing.T) {
	javaPair(t, func(t *testing.T, w *world, path string, one, two *peer) {
		contenders := []struct{ kind, path string }{
			{"lease-2", "-leases"}, {"lease-2", "-leases"}, {"lease-2", "-leases"},
			{"read", "-sides"}, {"write", "-sides"}, {"read", "-sides"}, {"mutex", "-mutex"}, {"mutex", "-mutex"},
		}
		ended := make(chan error)
		for i, c := range contenders {
			for _, p := range []*peer{one, two} {
				go func() { ended <- p.goesRound(t.Context(), fmt.Sprint(c.kind, i), path+c.path, c.kind) }()
			}
		}
		for range 2 * len(contenders) {
			require.NoError(t, <-ended)
		}
		for _, below := range []string{"-leases/leases", "-leases/locks", "-sides", "-mutex"} {
			w.nothingLeft(t, path+below)
		}
	})
}

// goesRound acquires and releases a few times.
func (p *peer) goesRound(ctx context.Context, name, path, kind string) error {
	for range 8 {
		if _, err := p.ask(ctx, "acquire", name, path, patienceMs, kind); err != nil {
			return err
		}
		if _, err := p.ask(ctx, "release", name); err != nil {
			return err
		}
	}
	return nil
}
