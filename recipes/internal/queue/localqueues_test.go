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
