package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// The program prints what README shows, except for the names of the host and the
// process.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		require.NoError(t, run(t.Context(), zktest.Start(t), &out))
		got := regexp.MustCompile(`@\S+/\d+`).ReplaceAllString(out.String(), "@web-1/4711")
		readme, err := os.ReadFile("../README.md")
		require.NoError(t, err)
		indented := "    " + strings.ReplaceAll(strings.TrimSpace(got), "\n", "\n    ")
		require.True(t, strings.Contains(string(readme), indented), "README does not show this:\n%s", indented)
	})
}
