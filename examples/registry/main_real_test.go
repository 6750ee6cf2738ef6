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

// TestMain turns the test binary into an instance if the program under test has
// started it as one.
func TestMain(m *testing.M) {
	demo.BeforeTests(runWorker, dialed)
	thorough.Parallel(4)
	leaktest.Main(m)
}

// requireStory runs the program with real processes, and requires that it has
// shown what it is to show.
func requireStory(t *testing.T, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	status := demo.Run(t.Context(), "registry", runStory, args, &out, &errs)
	t.Logf("%s%s", &out, &errs)
	require.Equal(t, demo.AsExpected, status)
	require.Empty(t, errs.String())
	require.Regexp(t, regexp.MustCompile(`(?s)^Four instances.*`+
		`  oslo +connected +lima, paris, rome \(drains\) .*`+
		`lima has left\..*  oslo +connected +paris, rome .*`+
		`  oslo +cut off +paris, rome +\d+ +0 +[1-9]\d* .*`+
		`  oslo +connected +rome +\d+ +0 .*`+
		`No call has failed, and the node of oslo was there all the time\.\n$`), out.String())
}

func TestStory(t *testing.T) {
	t.Parallel()
	requireStory(t)
}

func TestRealServer(t *testing.T) {
	t.Parallel()
	requireStory(t, "-servers", zkserver.Start(t).Addr())
}
