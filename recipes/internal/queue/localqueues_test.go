package queue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// QueuesOf returns how many queues there are of a client's locks.
func QueuesOf(c *framework.Client) (n int) {
	localQueues.mu.Lock()
	defer localQueues.mu.Unlock()
	for key, first := range localQueues.byKey {
		for q := first; q != nil && key.client == framework.Extend(c).Root(); q = q.next {
			n++
		}
	}
	return n
}

// An arrival that comes while the last goroutine leaves finds that queue or the
// next. It never waits in one that is over.
func TestArrivalsNeverWaitInAQueueThatIsOver(t *testing.T) {
	set := &queueSet{}
	key := &localKey{Key: Key{path: "/m"}}
	const arrivals = 20000
	done := make(chan struct{})
	for i := range 4 {
		shared := i%2 == 0
		go func() {
			defer func() { done <- struct{}{} }()
			for range arrivals {
				q, w, _ := set.arrive(key, arrival{shared: shared})
				if w != nil {
					<-w.turn
				}
				q.entered(shared)
				q.leave(shared, nil)
			}
		}()
	}
	for range 4 {
		<-done
	}
	require.Empty(t, set.byKey)
}

// Objects whose options differ have a queue each. A lock is forgotten with the last.
func TestQueuesOfOneLock(t *testing.T) {
	for name, order := range map[string][]int{"first to last": {0, 1, 2}, "last to first": {2, 1, 0}, "the middle first": {1, 0, 2}} {
		t.Run(name, func(t *testing.T) {
			set, all := &queueSet{}, []*localQueue(nil)
			for range 3 {
				q, _, _ := set.arrive(&localKey{Key: Key{path: "/m"}, object: &Queue{}}, arrival{})
				all = append(all, q)
			}
			other, _, _ := set.arrive(&localKey{Key: Key{path: "/other"}}, arrival{})
			require.Empty(t, set.others(other))
			require.ElementsMatch(t, all[1:], set.others(all[0]))
			for n, i := range order {
				require.Same(t, all[i], set.lookUp(*all[i].key))
				set.remove(all[i])
				set.remove(all[i]) // whoever finds it over removes it, too
				require.Nil(t, set.lookUp(*all[i].key))
				require.Len(t, set.others(all[i]), len(order)-n-1)
			}
			require.Len(t, set.byKey, 1)
		})
	}
}
