//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that shares standard error has made it non-blocking. The pipe is
// full for a while: nothing is lost, neither the end of a note nor the last
// line.
func TestNotesToANonBlockingPipeAreEntire(t *testing.T) {
	t.Parallel()
	r, w := nonBlockingPipe(t)
	n := newNotes(inFull(w))
	long := strings.Repeat("x", 1<<20) + "\n"
	fmt.Fprint(n, long)
	go func() {
		n.finish("the end\n")
		<-n.ended
		w.Close()
	}()
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	require.True(t, long+"the end\n" == string(all), "%d bytes", len(all))
}

// Output is entire as well.
func TestOutputToANonBlockingPipeIsEntire(t *testing.T) {
	t.Parallel()
	r, w := nonBlockingPipe(t)
	long := strings.Repeat("x", 1<<20)
	failed := make(chan error, 1)
	go func() {
		defer w.Close()
		_, err := io.WriteString(stoppable{t.Context(), inFull(w)}, long)
		failed <- err
	}()
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, <-failed)
	require.True(t, long == string(all), "%d bytes", len(all))
}

// nonBlockingPipe returns a pipe that was made non-blocking when this program
// had it already.
func nonBlockingPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var ends [2]int
	require.NoError(t, syscall.Pipe(ends[:]))
	r, w = os.NewFile(uintptr(ends[0]), "r"), os.NewFile(uintptr(ends[1]), "w")
	t.Cleanup(func() { r.Close(); w.Close() })
	require.NoError(t, syscall.SetNonblock(ends[1], true))
	return r, w
}
