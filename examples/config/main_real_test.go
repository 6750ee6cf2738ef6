//go:build real

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/examples/internal/demo"
)

const want = `The service starts.
level=INFO msg="new settings" by=defaults old="4 workers, 0 % off" new="4 workers, 0 % off" zxid=2
Alice wants 8 workers.
level=INFO msg="new settings" by=alice old="4 workers, 0 % off" new="8 workers, 0 % off" zxid=3
A script writes no workers.
level=ERROR msg="bad settings, the last good ones stay" error="decode /settings: 0 workers, 0 % off by \"nightly.sh\": want 1 to 64 workers, and 0 to 50 % off" zxid=4
An editor saves half a file.
level=ERROR msg="bad settings, the last good ones stay" error="decode /settings: unexpected end of JSON input" zxid=5
Bob wants a discount of 500 %.
It is refused: try set /settings: 8 workers, 500 % off by "bob": want 1 to 64 workers, and 0 to 50 % off
Somebody deletes the node.
level=ERROR msg="settings were deleted, the last good ones stay"
Bob wants a discount of 20 %.
level=INFO msg="new settings" by=bob old="8 workers, 0 % off" new="8 workers, 20 % off" zxid=7
`

func TestStory(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, demo.AsExpected, demo.Run(t.Context(), "config", runStory, nil, &out, &errs), &errs)
	require.Equal(t, want, out.String())
	require.Empty(t, errs.String())
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	indented := "    " + strings.ReplaceAll(strings.TrimSpace(want), "\n", "\n    ")
	require.Contains(t, string(readme), indented)
}
