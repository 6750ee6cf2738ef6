//go:build real

package nodes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/curatortest"
)

// The same on a server that means it.
func TestValueThatIsTooLongForARealServerIsNamed(t *testing.T) {
	t.Parallel()
	srv := zkserver.Start(t, zkserver.WithJVMFlags("-Djute.maxbuffer=100000"))
	c := curatortest.Connect(t, srv)
	n, err := nodes.NewPersistentNode(c, "/pn", make([]byte, 120_000))
	require.NoError(t, err)
	_, err = n.WaitRegistered(recipetest.Within(t, 20*time.Second))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "connections have ended with this request under way: create /pn, 1200")
	require.NoError(t, n.Set(recipetest.Within(t, time.Minute), []byte("short")))
	_, err = n.WaitRegistered(recipetest.Within(t, time.Minute))
	require.NoError(t, err)
	require.NoError(t, n.Shutdown(t.Context()))
}
