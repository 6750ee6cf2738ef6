//go:build real && unix

package zkserver

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProcessThatCannotStart(t *testing.T) {
	p := startProcess(exec.Command("/nowhere/java"), os.DevNull)
	<-p.done
	require.False(t, p.running())
	require.ErrorIs(t, p.exitError(), os.ErrNotExist)
	require.NoError(t, p.kill())
}

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
