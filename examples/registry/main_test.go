package main

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// No call fails, and no other instance calls one that drains or has left.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		require.NoError(t, run(t.Context(), zktest.Start(t), &out))
		readme, err := os.ReadFile("../README.md")
		require.NoError(t, err)
		indented := "    " + strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "\n    ")
		require.True(t, strings.Contains(string(readme), indented), "README does not show this:\n%s", indented)
	})
}
