package framework_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A session with very many ephemeral nodes may be too much for its servers when it
// ends. The log has one warning. Nodes that were deleted do not count.
func TestWarningOfTooManyEphemeralNodes(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		j := &journal{}
		c := newClient(t, srv, j.option())
		warnings := func() int {
			synctest.Wait()
			return strings.Count(fmt.Sprint(j.warnings()), "very many ephemeral nodes")
		}
		mustCreate(t, c, "/p", "")
		create := func(from, to int) {
			for i := from; i < to; i++ {
				mustCreate(t, c, fmt.Sprint("/p/", i), "", framework.WithMode(framework.Ephemeral))
			}
		}
		create(0, 10_000)
		require.NoError(t, c.Delete(t.Context(), "/p/0", framework.AnyVersion))
		create(10_000, 10_001)
		require.Zero(t, warnings())
		create(10_001, 10_100)
		require.Equal(t, 1, warnings())
	})
}
