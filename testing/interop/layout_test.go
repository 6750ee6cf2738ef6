package interop_test

import (
	"path"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Java's own code for protected nodes, by which it finds the node of a create whose reply was lost, takes our names apart.
func TestJavaTakesOurNamesApart(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		lock := lockPath(t)
		java := startPeer(t, w.addr, longSession)
		holder := acquire(t, w.contender(t, inGo), lock)
		name := path.Base(holder.node)

		parts := java.must(t, "protection", name)
		require.Equal(t, "lock-0000000000", parts[1])
		require.Equal(t, name, "_c_"+parts[0]+"-"+parts[1])
		require.Equal(t, []string{holder.node}, java.must(t, "participants", lock))

		_, err := java.ask(patience(t), "protection", "lock-0000000000")
		require.ErrorContains(t, err, "not a protected name", "so the check can fail")
	})
}

// On a path of its own, each language makes the same nodes. Only what they say of their owner differs.
func TestBothMakeTheSameNodes(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		require.Equal(t, w.makes(t, inJava), w.makes(t, inGo))
	})
}

// making is what can be seen of the nodes that an acquire has made.
type making struct {
	name        string // without the UUID
	ephemeral   bool
	version     int32
	parentOwner int64
	parentData  string
}

var uuid = regexp.MustCompile(`^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-`)

// makes also finds out that parents are containers: only those are reaped.
func (w *world) makes(t *testing.T, l language) making {
	lock := lockPath(t) + "/nested"
	g := acquire(t, w.contender(t, l), lock)
	_, node, err := w.observer.Get(patience(t), g.node)
	require.NoError(t, err)
	data, parent, err := w.observer.Get(patience(t), lock)
	require.NoError(t, err)
	require.NoError(t, g.release())
	w.waitReaped(t, path.Dir(lock))
	return making{
		name:        uuid.ReplaceAllString(path.Base(g.node), ""),
		ephemeral:   node.EphemeralOwner != 0,
		version:     node.Version,
		parentOwner: parent.EphemeralOwner,
		parentData:  string(data),
	}
}

// waitReaped waits until the server has deleted an empty container.
func (w *world) waitReaped(t *testing.T, path string) {
	t.Helper()
	ctx := patience(t)
	require.Eventually(t, func() bool {
		w.reap()
		ok, _, err := w.observer.Exists(ctx, path)
		return err == nil && !ok
	}, tooLong, 5*time.Millisecond, "%s is no empty container", path)
}
