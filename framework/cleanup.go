package framework

import (
	"math"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/retry"
)

// cleanup is one thing that a client has promised to do although no caller
// waits for it: to delete a node, which may not exist. A connection that is lost
// with much under way can leave thousands of them.
type cleanup struct {
	path    string
	version int32
	tries   int // attempts at which the server has failed

	// Set if a delete was sent already, or waits for room on the connection.
	sent   *transport.Call
	place  *transport.Waiter
	sentIn *Session

	// Set if the node's name is not known yet: it is below parent, if it
	// exists.
	parent, guid string

	// madeIn is the session in which the node may have been made. It is nil if
	// that does not matter.
	madeIn *Session
}

func (job *cleanup) request() proto.Request[proto.Nothing] {
	return proto.Delete(job.path, job.version)
}

// mayCome reports whether the node may still be made although a look in this
// session has not found it.
func (job *cleanup) mayCome(s *Session) bool {
	return job.madeIn != nil && job.madeIn != s && time.Now().Before(job.madeIn.lateUntil())
}

// name is what the log calls the node.
func (job *cleanup) name() string {
	if job.guid != "" {
		return znode.Join(job.parent, protectedPrefix(job.guid))
	}
	return job.path
}

// cleanups are the clean-ups that a client still has to do. One goroutine tries
// the new ones. Another one repeats the failed ones, so that its pauses do not
// hold up the new ones. A goroutine exists only while it has work.
type cleanups struct {
	fresh, failed backlog
}

// backlog is the work of one goroutine.
type backlog struct {
	mu   sync.Mutex // protects the following fields
	jobs []*cleanup
	busy bool // the goroutine is there
}

// add reports whether a goroutine must be started.
func (b *backlog) add(jobs ...*cleanup) (start bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs = append(b.jobs, jobs...)
	start = !b.busy
	b.busy = true
	return start
}

// take returns all there is to do.
func (b *backlog) take() []*cleanup {
	b.mu.Lock()
	defer b.mu.Unlock()
	jobs := b.jobs
	b.jobs = nil
	return jobs
}

// finished reports whether the goroutine may end, because there is nothing more
// to do.
func (b *backlog) finished() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = len(b.jobs) > 0
	return !b.busy
}

// cleanupPolicy never gives up.
var cleanupPolicy = retry.Exponential(100*time.Millisecond, 5*time.Second, math.MaxInt)
