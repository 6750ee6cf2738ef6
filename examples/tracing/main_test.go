package main

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

var update = flag.Bool("update", false, "draw docs/trace.svg")

// In virtual time, with replies that take two milliseconds, the program prints what
// README and the picture docs/trace.svg show. Only the ids of the traces, the host
// and the process differ.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayReply(2 * time.Millisecond)})
		spans, err := run(t.Context(), srv)
		require.NoError(t, err)
		var out strings.Builder
		printTraces(&out, spans)
		ids := regexp.MustCompile(`(?m)^\w+, trace (\w{8})`).FindAllStringSubmatch(out.String(), -1)
		require.Len(t, ids, 2)
		same := strings.NewReplacer(ids[0][1], "1d93c0a2", ids[1][1], "8f21b7e4")
		process := regexp.MustCompile(`@\S+/\d+`)
		got := process.ReplaceAllString(same.Replace(out.String()), "@web-1/4711")
		readme, err := os.ReadFile("../README.md")
		require.NoError(t, err)
		indented := "    " + strings.ReplaceAll(strings.TrimSpace(got), "\n", "\n    ")
		require.True(t, strings.Contains(string(readme), indented), "README does not show this:\n%s", indented)

		const file = "../../docs/trace.svg"
		picture := process.ReplaceAllString(same.Replace(drawTraces(spans)), "@web-1/4711")
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(picture), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), picture, "go test -update draws it again")
	})
}
