//go:build real && unix

package zkserver

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProcessThatDoesNotTerminateIsKilled(t *testing.T) {
	cmd := exec.Command("sh", "-c", `trap "" TERM; echo ready; while :; do sleep 1; done`)
	p := startProcess(cmd, filepath.Join(t.TempDir(), "log"))
	err := poll(withTimeout(t, time.Minute), p.done, func(context.Context) error {
		if !strings.Contains(tail(p.logFile, 100), "ready") {
			return errors.New("not ready")
		}
		return nil
	})
	require.NoError(t, err)
	require.ErrorContains(t, p.terminate(50*time.Millisecond), "killed")
	require.False(t, p.running())
}
