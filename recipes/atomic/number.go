package atomic

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/codec"
)

// Long is a number of 64 bits, Curator's DistributedAtomicLong. The node has 8
// bytes, big-endian. Number has the methods.
type Long = Number[int64]

// Int is a number of 32 bits, Curator's DistributedAtomicInteger. The node has
// 4 bytes, big-endian. Number has the methods.
type Int = Number[int32]

// Number is a number in a persistent node, which many processes read and
// change: a Long or an Int. It is safe for concurrent use. Changes that
// goroutines make at the same time through one Number are combined into one
// write, so make one and keep it.
//
// A node that does not exist, or is empty, is zero. The first change creates
// it, empty, and missing parents as containers. Changes of an ephemeral node fail with
// ErrEphemeral. Other data of another length is
// a *codec.DecodeError, except to Store.
//
// Each method waits through interruptions of the connection, and losses of the
// session, until ctx ends. These are its answers:
//
//   - No error: the change was applied, exactly once.
//   - An error that matches framework.ErrOutcomeUnknown: it was applied once,
//     or not at all, or it still may be applied; see WithReceipts. Do not
//     repeat the call unless counting twice does no harm.
//   - Any other error: the change was not applied, and will not be.
//
// Requests are made for several callers. So they are not part of a caller's
// framework.Client.InSession or span.
type Number[N int32 | int64] struct {
	cell *cell
}

// NewLong returns the Long with this path. It does not contact the server: a
// client, a path or an option that cannot be used is an error of every call.
func NewLong(c *framework.Client, path string, opts ...Option) *Long {
	n := &Long{}
	n.cell = newCell(c, path, opts)
	return n
}

// NewInt returns the Int with this path, as NewLong does.
func NewInt(c *framework.Client, path string, opts ...Option) *Int {
	n := &Int{}
	n.cell = newCell(c, path, opts)
	return n
}

// Load returns the number. It has seen every change that was complete before
// the call; at a leader see "How new a read is" in the package's documentation.
func (n *Number[N]) Load(ctx context.Context) (N, error) {
	data, err := n.cell.load(ctx, "load", func(data []byte) step {
		_, err := n.decode(data)
		return step{data: data, err: err}
	})
	if err != nil {
		return 0, err
	}
	return n.decode(data)
}

// Store sets the number, whatever it was.
func (n *Number[N]) Store(ctx context.Context, v N) error {
	defer runtime.KeepAlive(n) // a cleanup would delete the receipt
	_, _, err := n.cell.do(ctx, "store", func([]byte) step { return step{data: encode(v), writes: true} })
	return err
}

// CompareAndSwap sets the number to now if it equals old, and reports whether it
// was. It compares with a number as new as Load's. Unlike Curator's compareAndSet, it takes a node that does not exist for
// zero.
func (n *Number[N]) CompareAndSwap(ctx context.Context, old, now N) (swapped bool, err error) {
	defer runtime.KeepAlive(n)
	_, swapped, err = n.cell.do(ctx, "compare-and-swap", n.swap(old, now))
	return swapped, err
}

// Add adds delta, which may be negative, and returns the sum. A sum that does
// not fit wraps around, as in Go and in Java.
func (n *Number[N]) Add(ctx context.Context, delta N) (now N, err error) {
	return n.do(ctx, "add", func(data []byte) step {
		old, err := n.decode(data)
		if err != nil {
			return step{err: err}
		}
		return step{data: encode(old + delta), writes: true}
	})
}

// Update sets the number to what f makes of it, and returns that. It calls f
// again with the next number if another change was faster. If f returns an
// error, nothing is changed, and Update returns that error. The number that f
// got then is not out of date. Update calls f on the caller's goroutine and
// holds up nobody meanwhile, but for those that wait for the lock of WithPromotion.
func (n *Number[N]) Update(ctx context.Context, f func(old N) (N, error)) (now N, err error) {
	if err := n.cell.refuse("update", f == nil); err != nil {
		return 0, err
	}
	err = update(ctx, n.cell, func(data []byte) (change, error) {
		old, err := n.decode(data)
		if err != nil {
			return nil, n.cell.failed("update", err)
		}
		now, err = f(old)
		return n.swap(old, now), err
	})
	if err != nil {
		return 0, err
	}
	return now, nil
}

func (n *Number[N]) swap(old, now N) change {
	return func(data []byte) step {
		v, err := n.decode(data)
		if err != nil || v != old {
			return step{data: data, err: err}
		}
		return step{data: encode(now), writes: true}
	}
}

func (n *Number[N]) do(ctx context.Context, op string, change change) (N, error) {
	defer runtime.KeepAlive(n)
	data, _, err := n.cell.do(ctx, op, change)
	if err != nil {
		return 0, err
	}
	return n.decode(data)
}

func (n *Number[N]) decode(data []byte) (N, error) {
	switch size := sizeOf[N](); {
	case len(data) == 0:
		return 0, nil
	case len(data) != size:
		return 0, &codec.DecodeError{Path: n.cell.path, Err: fmt.Errorf("%d bytes, want %d", len(data), size)}
	case size == 4:
		return N(int32(binary.BigEndian.Uint32(data))), nil
	default:
		return N(binary.BigEndian.Uint64(data)), nil
	}
}

func sizeOf[N int32 | int64]() int {
	var n N
	return int(unsafe.Sizeof(n))
}

func encode[N int32 | int64](v N) []byte {
	if sizeOf[N]() == 4 {
		return binary.BigEndian.AppendUint32(nil, uint32(v))
	}
	return binary.BigEndian.AppendUint64(nil, uint64(v))
}
