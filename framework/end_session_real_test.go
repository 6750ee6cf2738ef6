//go:build real

package framework_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// The real servers list a session's nodes, after a sync.
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
