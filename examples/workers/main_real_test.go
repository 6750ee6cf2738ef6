//go:build real

package main

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkserver"
)

// TestMain turns the test binary into a worker if the program under test has
// started it as one.
func TestMain(m *testing.M) {
	demo.BeforeTests(runWorker)
	thorough.Parallel(4)
	leaktest.Main(m)
}

// requireStory runs the program with real processes, and requires that it has
// shown what it is to show.
func requireStory(t *testing.T, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	status := demo.Run(t.Context(), "workers", runStory, args, &out, &errs)
	t.Logf("%s%s", &out, &errs)
	require.Equal(t, demo.AsExpected, status)
	require.Empty(t, errs.String())
	require.Regexp(t, regexp.MustCompile(`^All workers have joined\. The barrier falls\.
Two workers pack, at two tables\. (\w+) is killed\. There are two more tables\.
All others pack\. The warehouse opens\.
(\w+ has packed order \d\d instead of \w+\n){2,}all 24 orders are packed, with one invoice each
$`), out.String())
}

func TestStory(t *testing.T) {
	t.Parallel()
	requireStory(t)
}

func TestRealServer(t *testing.T) {
	t.Parallel()
	requireStory(t, "-servers", zkserver.Start(t).Addr())
}
