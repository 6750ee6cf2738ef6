package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
)

// A real server answers the commands that change something, and the watch, as
// the fake does.
func TestOperatorsCommandsOnARealServer(t *testing.T) {
	addr := zkserver.Start(t).Addr()
	c, err := framework.Connect(t.Context(), addr)
	require.NoError(t, err)
	defer c.Close()
	zklock := func(args ...string) result { return runWith(t, &stand{}, append([]string{"-S", addr}, args...)...) }

	ctx, stop := context.WithCancel(t.Context())
	out, lines := linesOf(t)
	status := make(chan int, 1)
	go func() { status <- run(ctx, []string{"-S", addr, "watch", "/jobs"}, streams{nil, out, io.Discard}) }()
	require.Contains(t, <-lines, "EVENT")
	held := node(t, c, "/jobs/"+guid(1)+"lock-", identity("orders", 1))
	require.Contains(t, <-lines, "enqueued")
	require.Contains(t, <-lines, "granted")
	require.Zero(t, zklock("revoke", "/jobs").status)
	require.Contains(t, <-lines, "revocation asked for")

	other := zklock("free", held, "--czxid", "1", "--yes")
	require.Equal(t, refused, other.status, other.err)
	got := zklock("free", held, "--czxid", czxidOf(t, c, held), "--yes")
	require.Zero(t, got.status, got.err)
	require.Contains(t, <-lines, "released")
	stop()
	<-status

	for range 3 { // the numbers of children are those of creations
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

	require.Equal(t, "3\n", zklock("limit", "/limit", "3").out)
	require.Equal(t, "3\n", zklock("limit", "/limit").out)
	require.True(t, strings.HasPrefix(zklock("show", "/jobs").out, "/jobs  free"))
}
