package interop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Who holds the write lock goes on as a reader, and a writer of the other language that has been waiting does not come in
// between: the reader's node has the number of the writer's, and both languages take those for what they are.
//
// Java before Curator 5.5 makes a node at the end of the queue instead (CURATOR-621), and the writer does come in. The one
// who waits cannot know better, in whatever language.
func TestDowngradeWithAWaitingWriter(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world, one, other language) {
		lock := lockPath(t)
		others := w.contender(t, other)
		written := acquire(t, w.contender(t, one).as(writing), lock)
		writer := w.acquireBehind(t, others.as(writing), lock, writing)
		read := acquire(t, written.holder.as(reading), lock)
		reader := w.acquireBehind(t, colleague(others).as(reading), lock, reading)

		inPlace := sequence(read.node) == sequence(written.node)
		require.NoError(t, written.release())
		if inPlace {
			require.Equal(t, one == inGo, read.token == written.token, "Java's is the czxid of the new node, as always")
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
		w.nothingLeft(t, lock)
	})
}

// Readers of the other language join one who has gone over to reading. Each language has its own view of the two nodes
// with one number that exist until the writer's goes.
func TestReadersJoinADowngradedOne(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world, one, other language) {
		lock := lockPath(t)
		others := w.contender(t, other)
		written := acquire(t, w.contender(t, one).as(writing), lock)
		read := acquire(t, written.holder.as(reading), lock)
		reader := w.acquireBehind(t, others.as(reading), lock, reading)
		require.NoError(t, written.release())
		joined := reader.wait(t)
		writer := w.acquireBehind(t, colleague(others).as(writing), lock, writing)
		require.NoError(t, joined.release())
		require.Never(t, writer.over, 50*time.Millisecond, 10*time.Millisecond)
		require.NoError(t, read.release())
		require.NoError(t, writer.wait(t).release())
		w.nothingLeft(t, lock)
	})
}

// sequence is what the server has appended to a node's name.
func sequence(node string) string { return node[len(node)-10:] }
