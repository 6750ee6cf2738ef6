package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// completionOf returns the words that zklock offers a shell.
func completionOf(t *testing.T, got result) string {
	t.Helper()
	require.Zero(t, got.status, got.err)
	require.Empty(t, got.err)
	_, offered, _ := strings.Cut(got.out, "\n")
	return strings.Join(strings.Fields(offered), " ")
}

// Where a path of ZooKeeper stands, the nodes of the server are offered, level
// by level.
func TestNodesAreCompleted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		for _, path := range []string{"/jobs", "/jobs/bill", "/jobs/backup", "/jobs/$(halt)", "/services", "/services/web"} {
			require.NoError(t, s.Create(path, nil))
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
			require.Equal(t, want, completionOf(t, s.complete(t, strings.Split(line, " ")...)), line)
		}
	})
}

// Nothing is offered, and nothing said, if there is no server to ask.
func TestNodesOfNoServerAreNotCompleted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		s.RefuseConnections(true)
		require.Empty(t, completionOf(t, s.complete(t, "show", "/j")))
		require.Empty(t, completionOf(t, s.complete(t, "--auth-file", "/none", "show", "/j")))
		require.Empty(t, completionOf(t, runWith(t, "__complete", "show", "/j")))
	})
}

// complete returns what zklock says to a shell that knows a server.
func (s *stand) complete(t *testing.T, words ...string) result {
	t.Helper()
	r := &running{t: t, s: s, out: &text{}, err: &text{}}
	r.ended = make(chan int, 1)
	args := append([]string{"__complete", "-S", s.Addr()}, words...)
	r.ended <- run(t.Context(), args, streams{strings.NewReader(""), r.out, r.err}, s.host(r))
	return r.wait()
}
