package atomic

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/codec"
)

// Long is a number of 64 bits, Curator's DistributedAtomicLong. The node has 8
// bytes, big-endian. Number has the methods.
type Long = Number[int64]

// Int is a number of 32 bits, Curator's DistributedAtomicInteger. The node has
// 4 bytes, big-endian. Number has the methods.
type Int = Number[int32]

// Number is a number in a persistent node, which many processes read and change: a Long
// or an Int. A Number is safe for concurrent use. Concurrent Adds through one Number are
// combined into one write, so keep one Number for each path.
//
// A missing or empty node counts as zero. The first change creates the node empty, and
// missing parents as containers. Changes of an ephemeral node fail with ErrEphemeral. If
// the data have another length, every method except Store returns a *codec.DecodeError.
//
// Each method retries through interruptions, lost sessions and failures of servers until
// ctx ends, with pauses of at most five seconds. Its error is the outcome:
//
//   - nil: the change was applied exactly once.
//   - An error that matches framework.ErrOutcomeUnknown: the change was applied once, or
//     not at all, or may still be applied; see WithReceipts. Repeat the call only if
//     counting twice does no harm.
//   - Any other error: the change was not applied, and will not be.
//
// # Many writers
//
// Sixty-four goroutines that Add through one Number cost the server no more than one.
// Every other change is one write, and the goroutines of one Number take turns. Loads do
// not wait for writes. No goroutine waits for the function of an Update, so an Update with
// a slow function may starve while other goroutines change the Number continuously.
//
// Processes that write continuously take turns of up to eight writes. During its turn, a
// process completes one write in each round trip. Then the process rests until the other
// processes have had most of their turns. With eight processes, an Add costs about 1.5
// requests, most Adds take one round trip, and one Add in a hundred takes more than 80
// round trips. With more processes, slow Adds take proportionally longer.
//
// The process whose write arrives first gets the next turn. So a process with twice the
// latency of the others may starve. In that case, Curator's DistributedAtomicLong can
// continue under a lock (PromotedToLock). To do so here, hold a mutex of package locks
// during Add.
//
// # Limits
//
// ZooKeeper compares versions, not nodes. A write may be based on the number of a deleted
// node if the node is re-created and reaches the same version while the write is in
// flight, or within a second after a write or Load of the same session. Suspension of the
// machine counts as part of that second. To reset a counter, Store 0 instead of deleting
// the node.
//
// A node's version has 32 bits. On older servers, the version is -1 after 2^32 - 1
// writes, and changes fail with [ErrNoVersion].
type Number[N int32 | int64] struct {
	value Value[N]

	mu      sync.Mutex // protects the following fields, and the fields of each batch
	next    *batch[N]  // the batch that Adds join, or nil
	working bool       // a goroutine of the client writes batches
}

// NewLong returns the Long with this path, without a request. If an argument is invalid,
// every call returns the error.
func NewLong(c *framework.Client, path string, opts ...Option) *Long {
	return newNumber(c, path, opts, codec.Codec[int64]{
		Encode: func(v int64) ([]byte, error) { return binary.BigEndian.AppendUint64(nil, uint64(v)), nil },
		Decode: func(data []byte) (int64, error) {
			if len(data) != 8 {
				return 0, fmt.Errorf("%d bytes, want 8", len(data))
			}
			return int64(binary.BigEndian.Uint64(data)), nil
		},
	})
}

// NewInt returns the Int with this path. See NewLong.
func NewInt(c *framework.Client, path string, opts ...Option) *Int {
	return newNumber(c, path, opts, codec.Int32())
}

func newNumber[N int32 | int64](c *framework.Client, path string, opts []Option, codec codec.Codec[N]) *Number[N] {
	return &Number[N]{value: Value[N]{node: newNode(c, path, opts), codec: codec}}
}

// Load returns the number, as Curator's get does, with every change that was complete
// before the call. A CompareAndSwap that returns false and an Update whose function returns
// an error have read the same changes. There are two exceptions, for clients of the
// ensemble's leader:
//
//   - The leader may be some milliseconds behind what its followers have acknowledged.
//   - The leader may be partitioned from its followers. It then serves its clients for
//     up to the ensemble's syncLimit times tickTime, and one tick more, while other
//     clients write at the new leader. The clients of the old leader read the state
//     before the partition, so they may see an old number, and a CompareAndSwap of the
//     new number fails. They write nothing in that time.
//
// After [framework.Client.SyncQuorum], which costs as much as a write, neither exception
// applies to a Load. With [framework.WithStrictContact], a client that is cut off loses
// its session within the timeout, which bounds the second exception, but not the first.
func (n *Number[N]) Load(ctx context.Context) (N, error) { return n.value.Load(ctx) }

// Store sets the number unconditionally, as Curator's trySet and forceSet do.
func (n *Number[N]) Store(ctx context.Context, v N) error { return n.value.Store(ctx, v) }

// CompareAndSwap sets the number to now if the number equals old, and reports whether it
// did. If it did not, the number was as new as a Load's. Unlike Curator's compareAndSet,
// CompareAndSwap treats a missing node as zero, and replaces Curator's initialize.
func (n *Number[N]) CompareAndSwap(ctx context.Context, old, now N) (swapped bool, err error) {
	return n.value.CompareAndSwap(ctx, old, now)
}

// Update replaces the number by f's result, and returns the result. Update calls f again
// with the newest number if another change was faster, or if f returned an error for a
// number that may be out of date. If f returns an error for the newest number, Update
// changes nothing, and returns the error. Update calls f in the caller's goroutine. Other
// calls do not wait for f.
func (n *Number[N]) Update(ctx context.Context, f func(old N) (N, error)) (now N, err error) {
	return n.value.Update(ctx, f)
}

// Add adds delta, which may be negative, and returns the sum. The sum wraps around on
// overflow, as in Go and in Java. Add is Curator's increment, decrement, add and subtract.
// To reserve a block of 1,000 numbers, as Curator's CachedAtomicLong does, Add 1,000: the
// sum is the last number of the block.
//
// One request may serve many concurrent Adds. So the request belongs neither to the
// caller's framework.Client.InSession nor to the caller's span. If ctx ends while the
// request is in flight for several callers, the error matches
// framework.ErrOutcomeUnknown.
func (n *Number[N]) Add(ctx context.Context, delta N) (N, error) {
	const op = "add"
	if err := n.value.node.refuse(op, false); err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, n.value.node.failed(op, reason.OfContext(ctx))
	}
	mine := &add[N]{delta: delta}
	b := n.join(mine)
	select {
	case <-b.done:
	case <-ctx.Done():
		return 0, n.value.node.failedChange(op, b.recovery.GaveUp(ctx), n.leave(b, mine))
	}
	if b.err != nil {
		return 0, n.value.node.failedChange(op, b.err, b.unknown)
	}
	return mine.sum, nil
}

// batch is the Adds of several goroutines, which one call writes together. While the
// client writes a batch, further Adds join the next batch.
type batch[N int32 | int64] struct {
	*call
	cancel context.CancelFunc // ends the call when all callers have left
	done   chan struct{}      // closed at the end
	err    error              // set before done is closed

	adds  []*add[N] // without the Adds whose callers left before fixed was set
	fixed bool      // a write of adds may have been sent
	left  int       // how many callers have left since fixed was set
}

// add is the Add of one caller.
type add[N int32 | int64] struct{ delta, sum N }

// join adds a caller to the next batch, and starts the goroutine that writes batches, if
// it is not running.
func (n *Number[N]) join(mine *add[N]) *batch[N] {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		ctx, cancel := context.WithCancel(context.Background()) // closing the client ends all requests anyway
		b := &batch[N]{cancel: cancel, done: make(chan struct{})}
		b.call = n.value.node.newCall(ctx, func(data []byte) step { return n.sum(b, data) })
		n.next = b
	}
	b := n.next
	b.adds = append(b.adds, mine)
	if !n.working && !framework.Extend(n.value.node.client).Go(n.work) {
		n.next, b.err = nil, framework.ErrClosed
		b.cancel()
		close(b.done)
		return b
	}
	n.working = true
	return b
}

// leave removes a caller from a batch, and reports whether the caller's Add may still be
// applied. The last caller cancels the call and waits for its end, which comes at once.
func (n *Number[N]) leave(b *batch[N], mine *add[N]) (mayBeApplied bool) {
	n.mu.Lock()
	isFixed := b.fixed
	if isFixed {
		b.left++
	} else {
		b.adds = slices.DeleteFunc(b.adds, func(other *add[N]) bool { return other == mine })
	}
	isLast := b.left == len(b.adds)
	if isLast && n.next == b {
		n.next = nil
	}
	n.mu.Unlock()
	if !isLast {
		return isFixed
	}
	b.cancel()
	if !isFixed {
		return false
	}
	<-b.done
	return b.unknown || b.err == nil
}

// work writes batches until there is no next batch.
func (n *Number[N]) work(context.Context) {
	for {
		n.mu.Lock()
		b := n.next
		n.next, n.working = nil, b != nil
		n.mu.Unlock()
		if b == nil {
			return
		}
		s, err := b.run()
		b.err = cmp.Or(err, s.err)
		close(b.done)
		b.cancel()
	}
}

// sum adds all Adds of a batch to the number in data.
func (n *Number[N]) sum(b *batch[N], data []byte) step {
	sum, err := n.value.decode("add", data)
	if err != nil {
		return step{err: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	b.fixed = true
	for _, a := range b.adds {
		sum += a.delta
		a.sum = sum
	}
	data, err = n.value.codec.Encode(sum)
	return step{data: data, writes: err == nil, err: err}
}
