package atomic

import (
	"cmp"
	"context"
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

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
