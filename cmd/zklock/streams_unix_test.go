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
	"golang.org/x/sys/unix"
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
	all, err := io.ReadAll(entire{r})
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
		_, err := io.WriteString(inFull(w), long)
		failed <- err
	}()
	all, err := io.ReadAll(entire{r})
	require.NoError(t, err)
	require.NoError(t, <-failed)
	require.True(t, long == string(all), "%d bytes", len(all))
}

// A lock that is held until the end of a pipe is held although nothing is to be
// read for a while.
func TestANonBlockingPipeEndsAtItsEnd(t *testing.T) {
	t.Parallel()
	r, w := nonBlockingPipe(t)
	require.True(t, isPipe(r))
	ended := endOf(r)
	for range 3 { // behind each byte, a read finds nothing
		_, err := w.Write([]byte{0})
		require.NoError(t, err)
		for isUnread := true; isUnread; {
			polled := []unix.PollFd{{Fd: int32(r.Fd()), Events: unix.POLLIN}}
			n, err := unix.Poll(polled, 0)
			isUnread = err != nil || n > 0
			select {
			case <-ended:
				t.Fatal("it is not the end")
			default:
			}
		}
	}
	require.NoError(t, w.Close())
	<-ended
}

// nonBlockingPipe returns a pipe that was made non-blocking when this program
// had it already.
func nonBlockingPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var ends [2]int
	syscall.ForkLock.RLock() // no program of another test gets it
	err := syscall.Pipe(ends[:])
	syscall.CloseOnExec(ends[0])
	syscall.CloseOnExec(ends[1])
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	r, w = os.NewFile(uintptr(ends[0]), "r"), os.NewFile(uintptr(ends[1]), "w")
	t.Cleanup(func() { r.Close(); w.Close() })
	require.NoError(t, syscall.SetNonblock(ends[0], true))
	require.NoError(t, syscall.SetNonblock(ends[1], true))
	return r, w
}
