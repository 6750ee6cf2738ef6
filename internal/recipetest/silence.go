package recipetest

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// Untold is how long a client takes to notice a change of which its server sent no
// event.
const Untold = 5 * time.Minute

// Hide allows only an administrator to read a node. Servers then send no other client
// events about changes. The returned function restores the right. Hide works only on
// the fake.
func (w *World) Hide(t *testing.T, path string) (show func()) {
	t.Helper()
	admin, _ := w.Connect(t, framework.WithAuth("digest", []byte("admin:a")))
	hidden := append(zk.DigestACL(zk.PermAll, "admin", "a"), zk.WorldACL(zk.PermAll&^zk.PermRead)...)
	setACL := func(acl []zk.ACL) {
		_, err := admin.SetACL(t.Context(), path, acl, framework.AnyVersion)
		require.NoError(t, err)
	}
	setACL(hidden)
	return func() { setACL(zk.WorldACL(zk.PermAll)) }
}

// ChangeUntold writes to a node without any client receiving an event.
func (w *World) ChangeUntold(t *testing.T, path string) {
	t.Helper()
	show := w.Hide(t, path)
	require.NoError(t, w.Fake.Set(path, []byte("not told")))
	show()
}
