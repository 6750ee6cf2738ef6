package recipetest

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// Untold is after how long a client notices a change that its server did not
// tell of.
const Untold = 5 * time.Minute

// Hide takes the right to read a node away from everybody but one
// administrator. Servers tell nobody else of changes then. The function that it
// returns gives the right back. It works on the fake.
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

// ChangeUntold writes to a node in a way that no client is told of.
func (w *World) ChangeUntold(t *testing.T, path string) {
	t.Helper()
	show := w.Hide(t, path)
	require.NoError(t, w.Fake.Set(path, []byte("not told")))
	show()
}
