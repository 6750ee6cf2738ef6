//go:build real

package interop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The holder of the write lock becomes a reader. A writer of the other language
// that waits is not admitted in between. The reader's node has the sequence
// number of the writer's node, and both languages understand that.
//
// Java before Curator 5.5 makes a node at the end of the queue instead
// (CURATOR-621), and the writer is admitted. The waiting writer cannot know
// better, in either language.
func TestDowngradeWithAWaitingWriter(t *testing.T) {
	bothWays(t, func(t *testing.T, srv *testServer, one, other language) {
		lock := lockPath(t)
		written := acquire(t, srv.contender(t, one).withKind(writing), lock)
		writer := srv.acquireBehind(t, srv.contender(t, other).withKind(writing), lock, writing)
		read := acquire(t, written.holder.withKind(reading), lock)
		// The reader has another client: behind a writer of the same client, it makes no node.
		reader := srv.acquireBehind(t, srv.contender(t, other).withKind(reading), lock, reading)

		inPlace := sequence(read.node) == sequence(written.node)
		require.NoError(t, written.release())
		if inPlace {
			require.Equal(t, one == inGo, read.token == written.token,
				"Java's token is the czxid of the new node, as always")
			require.Never(t, writer.over, 100*time.Millisecond, 10*time.Millisecond)
			require.NoError(t, read.release())
		} else {
			require.Equal(t, inJava, one)
			t.Log("this Java Curator does not protect a downgrade from waiting writers")
		}
		next := writer.wait(t)
		require.Never(t, reader.over, 50*time.Millisecond, 10*time.Millisecond)
		require.NoError(t, next.release())
		require.NoError(t, reader.wait(t).release())
		if !inPlace {
			require.NoError(t, read.release())
		}
		srv.requireNothingLeft(t, lock)
	})
}

// sequence returns the number that the server has appended to a node's name.
func sequence(node string) string { return node[len(node)-10:] }
