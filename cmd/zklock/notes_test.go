package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Nobody reads. A note takes no time, and the end of the program a bounded one.
func TestNotesWaitForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		n := newNotes(w)
		begin := time.Now()
		for i := range 10_000 {
			fmt.Fprintln(n, "zklock: note", i)
		}
		require.Zero(t, time.Since(begin))
		n.settle(time.Minute)
		require.Equal(t, time.Minute, time.Since(begin))
		n.finish("zklock: the end\n")
		require.Equal(t, time.Minute+lastWords, time.Since(begin))
		require.NoError(t, r.Close())
		<-n.ended
	})
}

// Somebody reads at last: what was kept is in order, a line in the place of what
// was dropped says how much that is, and the last words are there.
func TestNotesThatWereDroppedAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		n := newNotes(w)
		const all = 10_000
		for i := range all {
			fmt.Fprintf(n, "note %d\n", i)
			if i == 0 {
				synctest.Wait() // it is on its way, and makes no room later
			}
		}
		go n.finish("the end\n")
		synctest.Wait()
		lines := readLines(t, r, n)
		kept := len(lines) - 2
		require.Positive(t, kept)
		for i, line := range lines[:kept] {
			require.Equal(t, fmt.Sprintf("note %d", i), line)
		}
		require.Equal(t, []string{
			fmt.Sprintf("zklock: nobody has read this in time: notes dropped: %d", all-kept), "the end",
		}, lines[kept:])
	})
}

// Notes continue when there is room again. A line tells how many notes were dropped,
// even if no other note follows.
func TestNotesGoOnWhenTheyAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		n := newNotes(w)
		long := strings.Repeat("x", maxUnread-1) + "\n"
		for range 3 {
			_, err := io.WriteString(n, long)
			require.NoError(t, err)
			synctest.Wait() // the first of them is on its way
		}
		read := make([]byte, 2*len(long))
		_, err := io.ReadFull(r, read)
		require.NoError(t, err)
		require.Equal(t, long+long, string(read))
		synctest.Wait()
		fmt.Fprintln(n, "later")
		go n.finish("")
		require.Equal(t, []string{"zklock: nobody has read this in time: notes dropped: 1", "later"}, readLines(t, r, n))
	})
}

// readLines returns what is left to read when the notes are finished.
func readLines(t *testing.T, r *io.PipeReader, n *notes) []string {
	t.Helper()
	go func() {
		<-n.ended
		n.to.(io.Closer).Close()
	}()
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(all), "\n"), "\n")
}

// A pipe that is closed is no reason to stop, nor is a note that is larger than
// the queue.
func TestNotesThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		n := newNotes(w)
		require.NoError(t, r.Close())
		for range 10 {
			_, err := n.Write(make([]byte, 2*maxUnread))
			require.NoError(t, err)
			synctest.Wait()
		}
		n.finish("the end\n")
		<-n.ended
	})
}
