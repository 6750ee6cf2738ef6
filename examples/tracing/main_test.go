package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// In virtual time, with replies that take two milliseconds, the program prints what
// README and the picture docs/trace.svg show. Only the ids of the traces, the host
// and the process differ.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayReply(2 * time.Millisecond)})
		var out strings.Builder
		require.NoError(t, run(t.Context(), srv, &out))
		got := regexp.MustCompile(`@\S+/\d+`).ReplaceAllString(out.String(), "@web-1/4711")
		for i, m := range regexp.MustCompile(`(?m)^\w+, trace (\w{8})`).FindAllStringSubmatch(got, -1) {
			got = strings.ReplaceAll(got, m[1], []string{"1d93c0a2", "8f21b7e4"}[i])
		}
		readme, err := os.ReadFile("../README.md")
		require.NoError(t, err)
		indented := "    " + strings.ReplaceAll(strings.TrimSpace(got), "\n", "\n    ")
		require.True(t, strings.Contains(string(readme), indented), "README does not show this:\n%s", indented)
	})
}
