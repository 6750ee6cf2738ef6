package atomic

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

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
// change: a Long or an Int. It is safe for concurrent use. What goroutines add at
// the same time through one Number is one write, so make one and keep it.
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
	return newNumber(c, path, opts, codec.Codec[int32]{
		Encode: func(v int32) ([]byte, error) { return binary.BigEndian.AppendUint32(nil, uint32(v)), nil },
		Decode: func(data []byte) (int32, error) {
			if len(data) != 4 {
				return 0, fmt.Errorf("%d bytes, want 4", len(data))
			}
			return int32(binary.BigEndian.Uint32(data)), nil
		},
	})
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
