//go:build real

package main

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
)

func TestMain(m *testing.M) {
	thorough.Parallel(4)
	leaktest.Main(m)
}

// The deadlock is found with both services by name, ends when one gives up, and
// does not come back if both lock in one order.
func TestStory(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	require.Equal(t, asExpected, run(t.Context(), nil, &out, &errs), &errs)
	t.Log(&out)
	require.Empty(t, errs.String())
	require.Contains(t, out.String(), "DEADLOCK of 2 processes\n")
	for _, line := range []string{
		`  orders@\S+/\d+ waits for mutex /deadlock/accounts, which billing@\S+/\d+ holds\n`,
		`  billing@\S+/\d+ waits for mutex /deadlock/stock, which orders@\S+/\d+ holds\n`,
		`orders has both locks, and releases them\n`,
		`each service locked both 50 times`,
	} {
		require.Regexp(t, regexp.MustCompile(line), out.String())
	}
}
