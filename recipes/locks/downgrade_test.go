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

// The reply to a downgrade is lost, and the node of the writer is deleted before the
// client finds out what has become of it. The reader has its place if its node was
// made by then, and otherwise the write lock is lost: no transaction with the checks
// of a lease is carried out beside the next writer's.
func TestChecksOfAReaderBehindADeletion(t *testing.T) {
	for name, lost := range map[string]zktest.Action{"the request": zktest.DropRequest(), "the reply": zktest.DropReply()} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t)
				writer := hold(t, w.Patience(t), writerAt(c))
				fault := w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Do: lost})
				network.Refuse(true)
				pending := take(context.WithoutCancel(writer.Context()), readerAt(c))
				<-fault.Done()
				synctest.Wait()
				require.NoError(t, w.Fake.Delete(writer.Path()))
				next := take(w.Patience(t), writerAt(w.Observer))
				network.Refuse(false) // within the first second, in which no watch tells the writer of the deletion
				<-pending.Done
				if name == "the request" {
					require.ErrorIs(t, pending.Err, locks.ErrNodeDeleted)
					require.NoError(t, next.Wait(t).Release(t.Context()))
					w.NothingLeft(t, "/l")
					return
				}
				require.NoError(t, pending.Err)
				time.Sleep(time.Minute)
				require.ErrorIs(t, context.Cause(writer.Context()), locks.ErrNodeDeleted)
				require.False(t, next.IsOver())
				_, err := c.Transaction(t.Context(), pending.Lease.Checks()...)
				require.NoError(t, err)
				require.NoError(t, pending.Lease.Release(t.Context()))
				require.NoError(t, next.Wait(t).Release(t.Context()))
				w.NothingLeft(t, "/l")
			})
		})
	}
}

// A writer waits when the holder of the write lock takes the read lock, and releases the
// write lock. The reader's node is younger than the writer's. An operator deletes the
// reader's node, so that the writer, of the same client, is admitted: the reader has lost
// the lock.
//
// Promise: Of two holders in one process, the one whose node was deleted loses the lock, even after a downgrade.
func TestReaderAfterADowngradeLosesToTheNextWriterOfItsClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writerAt(c))
		next := take(ctx, locks.NewInterProcessReadWriteLock(c, "/l", locks.WithoutIdentity()).WriteLock())
		w.WaitNodes(t, "/l", 2)
		reader := hold(t, writer.Context(), readerAt(c))
		require.NoError(t, writer.Release(ctx))
		require.NoError(t, w.Fake.Delete(reader.Path()))
		second := next.Wait(t)
		require.NoError(t, second.Context().Err())
		require.ErrorIs(t, context.Cause(reader.Context()), locks.ErrNodeDeleted)
		require.ErrorIs(t, reader.Release(ctx), locks.ErrNodeDeleted)
		require.NoError(t, second.Release(ctx))
		w.NothingLeft(t, "/l")
	})
}
