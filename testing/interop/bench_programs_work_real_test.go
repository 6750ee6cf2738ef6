//go:build real

package interop_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server that does not start says why, and at once: whoever measures cannot see it.
func TestServerThatEndsSaysWhy(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-no-such-flag")
	err := startServer(t, cmd, freeAddress(t))
	require.ErrorIs(t, err, errServerEnded)
	require.ErrorContains(t, err, "-no-such-flag")
}
