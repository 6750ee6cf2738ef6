package seat

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// lanesOf returns how many lanes there are of a client's locks.
func lanesOf(c *framework.Client) (n int) {
	lanes.mu.Lock()
	defer lanes.mu.Unlock()
	for key, first := range lanes.byKey {
		for q := first; q != nil && key.client == framework.Extend(c).Root(); q = q.next {
			n++
		}
	}
	return n
}

// An arrival that comes while the last goroutine leaves finds that lane or the
// next. It never waits in one that is over.
func TestArrivalsNeverWaitInALaneThatIsOver(t *testing.T) {
	set := &laneSet{}
	key := laneKey{Key: Key{path: "/m"}}
	const arrivals = 20000
	done := make(chan struct{})
	for i := range 4 {
		of := writes
		if i%2 == 0 {
			of = reads
		}
		go func() {
			defer func() { done <- struct{}{} }()
			for range arrivals {
				w := &waiter{of: of}
				q, _ := set.arrive(key, w)
				if ready := readyOf(q, w); ready != nil {
					<-ready
				}
				q.stopDriving(w)
			}
		}()
	}
	for range 4 {
		<-done
	}
	require.Empty(t, set.byKey)
}

func readyOf(q *lane, w *waiter) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return w.ready
}

// Objects whose nodes differ have a lane each. A lock is forgotten with the last.
func TestLanesOfOneLock(t *testing.T) {
	for name, order := range map[string][]int{"first to last": {0, 1, 2}, "last to first": {2, 1, 0}, "the middle first": {1, 0, 2}} {
		t.Run(name, func(t *testing.T) {
			set, all := &laneSet{}, []*lane(nil)
			for i := range 3 {
				q, _ := set.arrive(laneKey{Key: Key{path: "/m"}, data: string(rune('a' + i))}, &waiter{of: writes})
				all = append(all, q)
			}
			other, _ := set.arrive(laneKey{Key: Key{path: "/other"}}, &waiter{of: writes})
			require.Empty(t, set.beside(other))
			require.ElementsMatch(t, all[1:], set.beside(all[0]))
			for _, i := range order {
				require.Same(t, all[i], set.find(all[i].key, false))
				set.remove(all[i])
				set.remove(all[i]) // whoever finds it over removes it, too
				require.Nil(t, set.find(all[i].key, false))
			}
			require.Len(t, set.byKey, 1)
		})
	}
}

// A lane has the memory of a lock that is held, with its seat and first hold. The
// allocator adds a header of 8 bytes, and rounds up to 896, and then to 1024 bytes.
func TestLaneFitsIntoItsSizeClass(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(lane{}), uintptr(896-8))
}
