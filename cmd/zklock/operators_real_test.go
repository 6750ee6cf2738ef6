//go:build real

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
)

// A real server answers the commands that change something as the fake
// does.
func TestOperatorsCommandsOnARealServer(t *testing.T) {
	addr := zkserver.Start(t).Addr()
	c, err := framework.Connect(t.Context(), addr)
	require.NoError(t, err)
	defer c.Close()
	zklock := func(args ...string) result { return runWith(t, append([]string{"-S", addr}, args...)...) }

	held := node(t, c, "/jobs/"+guid(1)+"lock-", identity("orders", 1))
	require.Zero(t, zklock("revoke", "/jobs").status)

	other := zklock("free", held, "--czxid", "1", "--yes")
	require.Equal(t, refused, other.status, other.err)
	got := zklock("free", held, "--czxid", czxidOf(t, c, held), "--yes")
	require.Zero(t, got.status, got.err)

	for range 3 { // sequential numbers count creations
		require.NoError(t, c.Delete(t.Context(), node(t, c, "/up/n-", ""), framework.AnyVersion))
	}
	for _, member := range []string{"/up/web-1", "/web-2"} {
		node(t, c, member, "10.0.0.7:80")
		got = zklock("free", member, "--czxid", czxidOf(t, c, member), "--yes")
		require.Zero(t, got.status, got.err)
		exists, _, err := c.Exists(t.Context(), member)
		require.NoError(t, err)
		require.False(t, exists)
	}
	require.Equal(t, "/up/n-0000000005", node(t, c, "/up/n-", ""), "three, the member, and the one that nobody sees")

	require.True(t, strings.HasPrefix(zklock("show", "/jobs").out, "/jobs  free"))
}

// A real server says what it is.
func TestDoctorOfARealServer(t *testing.T) {
	srv := zkserver.Start(t)
	got := runWith(t, "-S", srv.Addr(), "doctor")
	require.Zero(t, got.status, got.err+got.out)
	require.Regexp(t, `(?m)yes +\d+ms +standalone +3\.\d`, got.out)
	require.Contains(t, got.out, "give or take")
}
