package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// completionOf returns the words that zklock offers a shell.
func completionOf(t *testing.T, words ...string) string {
	t.Helper()
	got := runWith(t, &stand{}, append([]string{"__complete"}, words...)...)
	require.Zero(t, got.status, got.err)
	require.Empty(t, got.err)
	_, offered, _ := strings.Cut(got.out, "\n")
	return strings.Join(strings.Fields(offered), " ")
}

// Where a path of ZooKeeper stands, the nodes of the server are offered, level
// by level.
func TestNodesAreCompleted(t *testing.T) {
	srv := startServer(t)
	for _, path := range []string{"/jobs", "/jobs/bill", "/jobs/backup", "/jobs/$(halt)", "/services", "/services/web"} {
		require.NoError(t, srv.Create(path, nil))
	}
	for line, want := range map[string]string{
		"show /j":                 "/jobs",
		"show /services":          "/services/web",
		"show /services/web":      "/services/web",
		"show ":                   "/jobs /services /zookeeper",
		"run /jobs/b":             "/jobs/backup /jobs/bill",
		"graph /services /jobs/":  "/jobs/backup /jobs/bill",
		"free --czxid 5 /jobs/bi": "/jobs/bill",
		"show jobs":               "",
		"show /none/":             "",
		"show /jobs/bill/":        "",
		"doctor /j":               "",
	} {
		require.Equal(t, want, completionOf(t, append([]string{"-S", srv.Addr()}, strings.Split(line, " ")...)...), line)
	}
}

// Nothing is offered, and nothing said, if there is no server to ask.
func TestNodesOfNoServerAreNotCompleted(t *testing.T) {
	require.Empty(t, completionOf(t, "show", "/j"))
	require.Empty(t, completionOf(t, "-S", deadServer{}.Addr(), "--connect-timeout", "0.1", "show", "/j"))
	require.Empty(t, completionOf(t, "--auth-file", "/none", "-S", "a:1", "show", "/j"))
}
