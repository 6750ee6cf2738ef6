package locks_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// thirdInLine begins an acquire behind a holder and another waiter. It returns
// the holder, the other waiter, and the client of the third.
func (w *world) thirdInLine(t *testing.T) (*locks.Lease, *locktest.Pending, *framework.Client) {
	t.Helper()
	var all []*framework.Client
	for _, name := range []string{"first", "second", "third"} {
		c, _ := w.Connect(t, framework.WithServiceName(name))
		all = append(all, c)
	}
	holder := hold(t, w.Patience(t), mutexAt(all[0]))
	second := take(w.Patience(t), mutexAt(all[1]))
	time.Sleep(2 * time.Second) // the holder watches its node by now
	w.Fake.ClearRequests()
	return holder, second, all[2]
}

// A waiter reads the holder's node when it has waited for a while. Most waits are
// shorter, and most holders are gone by then.
func TestHolderIsNotReadInAShortWait(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		holder, second, c := w.thirdInLine(t)
		third := take(w.Patience(t), mutexAt(c))
		time.Sleep(200*time.Millisecond - 1)
		synctest.Wait()
		queued := []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetData}
		require.Equal(t, queued, w.Requests())
		time.Sleep(time.Minute)
		require.Equal(t, append(queued, zktest.OpGetData), w.Requests())
		for _, p := range []*locktest.Pending{{Lease: holder}, second, third} {
			if p.Done != nil {
				p.Wait(t)
			}
			require.NoError(t, p.Lease.Release(t.Context()))
		}
		w.NothingLeft(t, "/l")
	})
}

// An error names the holder, however short its deadline is.
func TestErrorNamesTheHolderAfterAShortWait(t *testing.T) {
	for _, patience := range []time.Duration{time.Second, 201 * time.Millisecond, 200 * time.Millisecond, 50 * time.Millisecond} {
		t.Run(patience.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				holder, second, c := w.thirdInLine(t)
				_, err := mutexAt(c).Acquire(recipetest.Within(t, patience))
				refused := notAcquired(t, err)
				require.Equal(t, 2, refused.Ahead)
				require.Equal(t, "first", refused.Identity().Service)
				require.NoError(t, holder.Release(t.Context()))
				require.NoError(t, second.Wait(t).Release(t.Context()))
				w.NothingLeft(t, "/l")
			})
		})
	}
}

// Readers that wait for the same holder read its node once.
func TestReadersReadTheHolderOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		one, _ := w.Connect(t, framework.WithServiceName("first"))
		two, _ := w.Connect(t)
		many, _ := w.Connect(t)
		holder := hold(t, t.Context(), writerAt(one))
		second := take(w.Patience(t), writerAt(two))
		time.Sleep(2 * time.Second) // the holder watches its node by now
		w.Fake.ClearRequests()
		const n = 50
		errs := make(chan error, n)
		for i := range n {
			go func() {
				_, err := readerAt(many).Acquire(recipetest.Within(t, time.Duration(i+20)*time.Second))
				errs <- err
			}()
		}
		time.Sleep(10 * time.Second)
		require.Equal(t, 2, w.Fake.CountRequests(zktest.OpGetData), "of the writer ahead, and the holder")
		for range n {
			require.Equal(t, "first", notAcquired(t, <-errs).Identity().Service)
		}
		require.NoError(t, holder.Release(t.Context()))
		require.NoError(t, second.Wait(t).Release(t.Context()))
		w.NothingLeft(t, "/l")
	})
}

// Eight clients take turns, each for a short time. A cycle is the creation, the
// list that comes with it, the watch, another list, and the deletion.
func TestCycleOfManyClientsIsFiveRequests(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const clients, rounds = 8, 20
		done := make(chan error, clients)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayRequest(time.Millisecond)})
		for range clients {
			c, _ := w.Connect(t)
			go func() {
				for i := range rounds {
					lease, err := mutexAt(c).Acquire(t.Context())
					if err == nil {
						time.Sleep(time.Millisecond)
						err = lease.Release(t.Context())
					}
					if err != nil {
						done <- fmt.Errorf("round %d: %w", i, err)
						return
					}
				}
				done <- nil
			}()
		}
		for range clients {
			require.NoError(t, <-done)
		}
		// A few more make the path, and connect.
		require.LessOrEqual(t, w.Fake.CountRequests(zktest.OpAny), 5*clients*rounds+50)
		w.NothingLeft(t, "/l")
	})
}

// The first of ours has looked, and tells of that look once more 200 ms later, when
// it has asked for the holder. Meanwhile the second has seen the next holder.
// Whoever gives up in the process is told of the newest.
func TestNoteOfAnOldLookReplacesNoNewerOne(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		one, _ := w.Connect(t, framework.WithServiceName("one"))
		two, _ := w.Connect(t, framework.WithServiceName("two"))
		c, _ := w.Connect(t)
		a := hold(t, w.Patience(t), mutexAt(one))
		b := take(w.Patience(t), mutexAt(two))
		time.Sleep(2 * time.Second)
		first := take(w.Patience(t), mutexAt(c))
		time.Sleep(100 * time.Millisecond)
		require.NoError(t, a.Release(t.Context()))
		b.Wait(t)
		second := take(w.Patience(t), mutexAt(c)) // its look says that b has it
		time.Sleep(150 * time.Millisecond)        // the first asks for a, who is gone
		_, err := mutexAt(c).Acquire(recipetest.Within(t, 10*time.Millisecond))
		holder := notAcquired(t, err).Holder
		require.NoError(t, b.Lease.Release(t.Context()))
		require.NoError(t, first.Wait(t).Release(t.Context()))
		require.NoError(t, second.Wait(t).Release(t.Context()))
		require.Equal(t, b.Lease.Path(), "/l/"+holder)
	})
}
