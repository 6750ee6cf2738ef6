package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// deletedWriter returns a holder of the write lock whose node was deleted, and who
// has not learned of that. Another client holds the write lock.
func (w *world) deletedWriter(t *testing.T, c *framework.Client, deleted func(writer *locks.Lease) string) (writer, second *locks.Lease) {
	t.Helper()
	writer = hold(t, w.Patience(t), writerAt(c))
	require.NoError(t, w.Fake.Delete(deleted(writer)))
	second = hold(t, w.Patience(t), writerAt(w.Observer))
	require.NoError(t, writer.Context().Err())
	return writer, second
}

func itsNode(writer *locks.Lease) string { return writer.Path() }

// A holder of the write lock whose node was deleted cannot take the read lock: it
// would hold that beside the next writers for ever. The refusal tells the holder of
// the deletion.
func TestDowngradeBehindADeletion(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		writer, second := w.deletedWriter(t, c, itsNode)
		for range 2 {
			_, err := readerAt(c).Acquire(context.WithoutCancel(writer.Context()))
			require.ErrorIs(t, err, locks.ErrNodeDeleted)
			require.ErrorIs(t, context.Cause(writer.Context()), locks.ErrNodeDeleted)
		}
		require.NoError(t, second.Context().Err())
		require.ErrorIs(t, writer.Release(t.Context()), locks.ErrNodeDeleted)
		require.NoError(t, second.Release(t.Context()))
		w.NothingLeft(t, "/l")
	})
}

// An operator deletes the node of a reader that was a writer, and the next writer of
// the same client is admitted. The reader's node is younger than that writer's,
// although the reader has held the lock for longer. It is the reader that has lost it.
func TestDeletionOfADowngradedReadersNodeEndsTheReader(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		ours, others := rwOf(c), locks.NewInterProcessReadWriteLock(c, "/l", locks.WithNodeData([]byte("a line of its own")))
		writer := hold(t, ctx, ours.WriteLock())
		pending := take(ctx, others.WriteLock())
		w.WaitNodes(t, "/l", 2)
		reader := hold(t, context.WithoutCancel(writer.Context()), ours.ReadLock())
		require.NoError(t, writer.Release(ctx))
		require.NoError(t, w.Fake.Delete(reader.Path()))
		next := pending.Wait(t)
		synctest.Wait()
		require.NoError(t, context.Cause(next.Context()))
		require.ErrorIs(t, context.Cause(reader.Context()), locks.ErrNodeDeleted)
		require.ErrorIs(t, reader.Release(ctx), locks.ErrNodeDeleted)
		require.NoError(t, next.Release(ctx))
		w.NothingLeft(t, "/l")
	})
}

// An acquire whose requests get no answer knows the holder from its own process: a
// reader that was a writer. Its error names the holder's identity.
func TestRefusalNamesADowngradedReader(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writerAt(c))
		reader := hold(t, context.WithoutCancel(writer.Context()), readerAt(c))
		require.NoError(t, writer.Release(ctx))
		fault := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayRequest(5 * time.Second)})
		first := take(ctx, writerAt(c))
		<-fault.Done()
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := writerAt(c).Acquire(short)
		require.NotZero(t, locks.ReadIdentity(notAcquired(t, err).HolderData).PID)
		require.NoError(t, reader.Release(ctx))
		require.NoError(t, first.Wait(t).Release(ctx))
	})
}
