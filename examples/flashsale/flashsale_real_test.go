//go:build real

package main

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// SIGKILL ends one of the processes of the program, and another process takes over.
func TestProcesses(t *testing.T) {
	for _, crash := range []moment{beforeWrite, afterWrite} {
		out, err := exec.Command("go", "run", ".", "-crash", string(crash)).CombinedOutput()
		require.NoError(t, err, string(out))
		require.Regexp(t, `(?s)\nWorker \w+ was killed.*\nbooks balance\n$`, string(out))
	}
}
