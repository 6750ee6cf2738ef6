package locks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func readLock(c *framework.Client, path string) locks.Locker {
	return locks.NewInterProcessReadWriteLock(c, path).ReadLock()
}

func writeLock(c *framework.Client, path string) locks.Locker {
	return locks.NewInterProcessReadWriteLock(c, path).WriteLock()
}

// The reader that waits at the server for all gives up while it sets its watch, or
// while all wait. Another one goes on with its node.
//
// Promise: Readers that share a node keep its place if the reader that made it leaves.
func TestReadersKeepTheNodeOfAReaderThatGivesUp(t *testing.T) {
	for _, when := range []time.Duration{time.Second / 2, 2 * time.Second} {
		t.Run(fmt.Sprint(when), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				other, _ := w.Connect(t)
				c, _ := w.Connect(t)
				writer := hold(t, ctx, writeLock(other, path))
				time.Sleep(2 * time.Second) // the writer has begun to watch its node
				w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Session: c.SessionID(), Do: zktest.DelayReply(time.Second)})
				going := take(recipetest.Within(t, when), readLock(c, path))
				synctest.Wait()
				staying := takeAll(ctx, 5, readLock(c, path))
				nodes := w.Nodes(t, path)
				<-going.Done
				require.ErrorIs(t, going.Err, context.DeadlineExceeded)
				time.Sleep(time.Second)
				require.ElementsMatch(t, nodes, w.Nodes(t, path))
				require.Len(t, w.Fake.Watches(), 3, "the writer's, and the reader's on the writer's node and its own")
				require.NoError(t, writer.Release(ctx))
				releaseAll(t, ctx, staying)
				w.NothingLeft(t, path)
			})
		})
	}
}

// A reader's create is sent twice and makes two nodes, as on a server that lags. Then
// the reader gives up.
//
// Promise: A reader whose create was sent twice leaves no second node.
func TestReaderThatGivesUpLeavesNoOtherNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		other, _ := w.Connect(t)
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writeLock(other, path))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: c.SessionID(), Do: zktest.DropReply()})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren, Session: c.SessionID(), Do: zktest.Call(func(zktest.Request) {
			for _, name := range w.Fake.Children(path) {
				if id, _, ok := strings.Cut(name, "__READ__"); ok {
					_ = w.Fake.Create(path+"/"+id+"__READ__0000000009", nil)
				}
			}
		})})
		_, err := readLock(c, path).Acquire(recipetest.Within(t, 5*time.Second))
		notAcquired(t, err)
		require.NoError(t, writer.Release(ctx))
		w.NothingLeft(t, path)
	})
}
