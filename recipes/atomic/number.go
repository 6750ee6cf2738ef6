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

// Number is a number in a persistent node, which many processes read and
// change: a Long or an Int. It is safe for concurrent use. What goroutines add at
// the same time through one Number is one write, so make one and keep it.
//
// A node that does not exist, or is empty, is zero. The first change creates it,
// empty, and missing parents as containers. Changes of an ephemeral node fail with
// ErrEphemeral. Data of another length is a *codec.DecodeError, except to Store.
//
// Each method waits through interruptions of the connection, and losses of the
// session, until ctx ends. These are its answers:
//
//   - No error: the change was applied, exactly once.
//   - An error that matches framework.ErrOutcomeUnknown: it was applied once,
//     or not at all, or it still may be applied; see WithReceipts. Do not
//     repeat the call unless counting twice does no harm.
//   - Any other error: the change was not applied, and will not be.
type Number[N int32 | int64] struct {
	value Value[N]

	mu      sync.Mutex // protects the following fields, and those of each batch
	next    *batch[N]  // the one that Adds join, or nil
	working bool       // a goroutine of the client writes batches
}

// NewLong returns the Long with this path. It does not contact the server: a
// client, a path or an option that cannot be used is an error of every call.
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

// NewInt returns the Int with this path, as NewLong does.
func NewInt(c *framework.Client, path string, opts ...Option) *Int {
	return newNumber(c, path, opts, codec.Int32())
}

func newNumber[N int32 | int64](c *framework.Client, path string, opts []Option, codec codec.Codec[N]) *Number[N] {
	return &Number[N]{value: Value[N]{node: newNode(c, path, opts), codec: codec}}
}

// Load returns the number. It has seen every change that was complete before
// the call; at a leader see "How new a read is" in the package's documentation.
func (n *Number[N]) Load(ctx context.Context) (N, error) { return n.value.Load(ctx) }

// Store sets the number, whatever it was.
func (n *Number[N]) Store(ctx context.Context, v N) error { return n.value.Store(ctx, v) }

// CompareAndSwap sets the number to now if it equals old, and reports whether it
// did. It compares with a number as new as Load's. Unlike Curator's compareAndSet,
// it takes a node that does not exist for zero.
func (n *Number[N]) CompareAndSwap(ctx context.Context, old, now N) (swapped bool, err error) {
	return n.value.CompareAndSwap(ctx, old, now)
}

// Update sets the number to what f makes of it, and returns that. It calls f
// again with the next number if another change was faster, and if f has failed with
// a number that may be out of date. If f returns an error for the newest number,
// nothing is changed, and Update returns that error. Update calls f on the caller's
// goroutine. Other calls do not wait for f.
func (n *Number[N]) Update(ctx context.Context, f func(old N) (N, error)) (now N, err error) {
	return n.value.Update(ctx, f)
}

// Add adds delta, which may be negative, and returns the sum. A sum that does
// not fit wraps around, as in Go and in Java.
//
// The request is made for all goroutines that add at the same time. So it is not
// part of the caller's framework.Client.InSession or span. A caller that
// gives up while the request for several callers is under way gets an error that
// matches framework.ErrOutcomeUnknown.
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

// batch is what several goroutines add through one Number at the same time: one
// call makes one write of all of it. While the client writes one batch, the next
// one collects.
type batch[N int32 | int64] struct {
	*call
	cancel context.CancelFunc // ends the call, when all callers have left
	done   chan struct{}      // closed at the end
	err    error              // set before done is closed

	adds  []*add[N] // of callers that have not left
	fixed bool      // a write of adds may have been sent
	left  int       // how many callers have left since then
}

// add is the part of one caller.
type add[N int32 | int64] struct{ delta, sum N }

// join adds a caller to the batch that collects, and starts the goroutine that
// writes batches.
func (n *Number[N]) join(mine *add[N]) *batch[N] {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		ctx, cancel := context.WithCancel(context.Background()) // requests end with the client in any case
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

// leave takes a caller out of a batch. It reports whether the caller's part may be
// applied all the same. The last caller waits until that is known, which is at once:
// the call ends with its context.
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

// work writes one batch after the other until nobody adds.
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

// sum adds the parts of a batch, one after the other.
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
