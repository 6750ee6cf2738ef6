package locks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// Readers of three clients come all the time, and each is there before the one before
// it has gone. A writer of another client waits for those that came before it, and for
// those that came before their client heard of it.
//
// Promise: A writer waits at most 100 ms longer for readers who arrive after it.
func TestWriterBehindAStreamOfReaders(t *testing.T) {
	for name, opts := range map[string][]locks.ReadWriteOption{
		"plain": nil, "cached": {idleFor(1000, time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				const every, held = 10 * time.Millisecond, 50 * time.Millisecond
				ctx, path := w.Patience(t), recipetest.Path(t)
				streaming, stop := context.WithCancel(ctx)
				var all sync.WaitGroup
				for range 3 {
					c, _ := w.Connect(t)
					read := locks.NewInterProcessReadWriteLock(c, path, opts...).ReadLock()
					all.Go(func() {
						for ; streaming.Err() == nil; time.Sleep(every) {
							all.Go(func() {
								lease := hold(t, ctx, read)
								time.Sleep(held)
								_ = lease.Release(ctx)
							})
						}
					})
				}
				for range 20 {
					time.Sleep(time.Second)
					begin := time.Now()
					wrote := hold(t, ctx, writeLock(w.Observer, path))
					require.LessOrEqual(t, time.Since(begin), joinTime+held+every)
					time.Sleep(held)
					require.NoError(t, wrote.Release(ctx))
				}
				stop()
				all.Wait()
				w.NothingLeft(t, path)
			})
		})
	}
}
