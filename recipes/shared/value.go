package shared

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/sharednode"
)

// Value is a shared value: the data of one node, which the Value follows with a watch. A
// Value is safe for concurrent use, and must be closed. The zero Value cannot be used;
// NewValue makes one.
//
// Servers with local sessions (localSessionsEnabled) check less about the origin of a
// request. Lost replies were not tested on such servers. If an ensemble is restored from an
// old backup, the Value goes back, too, and logs a warning.
type Value[T any] struct {
	node    *replica
	codec   codec.Codec[T]
	seed    T
	decoded atomic.Pointer[decoded[T]] // the last decoded snapshot
}

// Count is a shared number in the encoding of Curator's SharedCount. The zero Count
// cannot be used; NewCount makes one.
type Count = Value[int32]

// Versioned is a value as of one transaction.
type Versioned[T any] struct {
	// Value is the seed if the node does not exist. All callers get the same Value, and
	// must not change it.
	Value T

	// Exists is false if the node does not exist. Then Version, Mzxid and Czxid are 0.
	Exists bool

	// Version counts the writes of the node. Version can wrap, and a re-created node
	// begins with 0 again. To learn which of two values is newer, compare Mzxid.
	Version int32
	Mzxid   int64 // the transaction that wrote the value
	Czxid   int64 // the transaction that created the node
}

// NewCount returns a shared number; see NewValue. Data that are not four bytes long
// cause a *codec.DecodeError.
func NewCount(c *framework.Client, path string, seed int32) (*Count, error) {
	return newValue("new count", c, path, codec.Int32(), seed)
}

// NewValue returns the value of the node with this path, and follows the node in the
// background; WaitSynced waits for the first read. If the node does not exist at the
// first read, the Value creates it with the seed, and missing parents as containers.
// After the first read, only Set and TrySet create the node.
//
// The error matches zk.ErrInvalidPath for an invalid path, is a *framework.ConfigError
// for another invalid argument, is the codec's error for a seed that the codec cannot
// encode and decode again, and matches framework.ErrClosed if the client is closed.
func NewValue[T any](c *framework.Client, path string, codec codec.Codec[T], seed T) (*Value[T], error) {
	return newValue("new value", c, path, codec, seed)
}

// newValue is NewValue. op is the name of the constructor in errors.
func newValue[T any](op string, c *framework.Client, path string, codec codec.Codec[T], seed T) (*Value[T], error) {
	r := &replica{Node: sharednode.Node{Path: path}} // for errors
	switch {
	case c == nil:
		return nil, r.errorOf(op, bad("client", "nil", "must not be nil"))
	case codec.Encode == nil, codec.Decode == nil:
		return nil, r.errorOf(op, bad("codec", "nil", "must have both functions"))
	}
	if err := framework.ValidatePath(path); err != nil {
		return nil, r.errorOf(op, err)
	}
	data, err := codec.Encode(seed)
	if err != nil {
		return nil, r.errorOf(op, fmt.Errorf("seed: %w", err))
	}
	if seed, err = codec.Decode(data); err != nil { // a copy that the caller cannot change
		return nil, r.errorOf(op, fmt.Errorf("encoded seed: %w", err))
	}
	if r, err = newReplica(c, path, data); err != nil {
		return nil, r.errorOf(op, err)
	}
	return &Value[T]{node: r, codec: codec, seed: seed}, nil
}

// WaitSynced waits until the node was read or created for the first time. Its error
// matches the error of ctx, or is the error of Err.
func (v *Value[T]) WaitSynced(ctx context.Context) error {
	return v.node.errorOf("wait synced", v.node.life.Wait(ctx, v.node.wasRead))
}

// Get returns the newest value that this client knows, from memory, and never an older
// value than before. The value lags behind the server by a round trip, and by the whole
// of an outage.
//
// If the node was deleted, Exists is false, and Value is the seed. The next Set or TrySet
// creates the node.
//
// Before the first read, the error matches ErrNotSynced. If the data cannot be decoded,
// the error is a *codec.DecodeError, and all fields except Value are set. After the Value
// has ended, Get returns the last value.
func (v *Value[T]) Get() (Versioned[T], error) {
	s := v.node.latest()
	if s == nil {
		return Versioned[T]{Value: v.seed}, v.node.errorOf("get", ErrNotSynced)
	}
	return v.versioned(s)
}

// Refresh asks the server to catch up, and returns a value that is as new as the call,
// with the exceptions that framework.Client.Sync has. Refresh costs two requests. It
// returns the error of a request or of Get.
func (v *Value[T]) Refresh(ctx context.Context) (Versioned[T], error) {
	return v.refresh(ctx, "refresh")
}

func (v *Value[T]) refresh(ctx context.Context, op string) (Versioned[T], error) {
	err := v.node.life.Err()
	if err == nil {
		calling, done := v.node.untilClosed(ctx)
		err = done(v.node.refresh(calling, true))
	}
	if err != nil {
		return Versioned[T]{Value: v.seed}, v.node.errorOf(op, err)
	}
	return v.Get()
}

// Set writes a value over any value, and creates the node if it does not exist. Set waits
// for one request, or for two if the node does not exist. In the background, the Value
// reads its own write back, because a write uses up the watch that waits for the changes of
// other clients, and only a read sets the watch again. A hundred concurrent Sets cost one or
// two such reads; a hundred consecutive Sets cost a hundred.
//
// If the reply is lost and the session lives on, Set reads the node. If the node has this
// value, Set returns nil; if the node is unchanged, Set writes again. Otherwise, and if
// the session or ctx ends first, the error matches framework.ErrOutcomeUnknown. Set never
// repeats the creation of a missing node, so a lost reply to it also leads to
// framework.ErrOutcomeUnknown unless the node has this value. Set is never applied twice.
func (v *Value[T]) Set(ctx context.Context, value T) error {
	_, err := v.set(ctx, value)
	return err
}

func (v *Value[T]) set(ctx context.Context, value T) (s *sharednode.Snapshot, err error) {
	data, err := v.codec.Encode(value)
	if err != nil {
		return nil, v.node.errorOf("set", err)
	}
	calling, done := v.node.untilClosed(ctx)
	s, err = v.node.set(calling, data)
	return s, v.node.errorOf("set", done(err))
}

// TrySet writes a value if the node still has the previous value, which this Value or
// another Value of the path has returned. If previous does not exist, as in the zero
// Versioned, then the node must not exist, and TrySet creates it. TrySet waits for one
// request, or for none if the Value already knows a newer value.
//
// TrySet returns the value that the node has afterwards, and ok:
//
//   - If ok is true, this call has written the value.
//   - If ok is false and err is nil, the node has another value, which TrySet returns.
//   - If the error matches framework.ErrOutcomeUnknown, the reply was lost, and the node
//     does not show whose write it has: the node has the same bytes, which another client
//     may have written; or other clients have written since; or the session or ctx ended
//     before TrySet could read the node. A lost reply to the creation of a missing node
//     always leads to this error. If the data contain the name of the writer, Refresh
//     shows who wrote last.
//   - If the error is a *codec.DecodeError, the codec cannot decode the node's value.
//     Value is zero, ok and the other fields are as without the error, and TrySet may be
//     called with the result.
//   - If the error matches ErrNodeReplaced, ok is true.
//
// For a previous version of -1, the error matches zk.ErrBadArguments, because servers
// take -1 for any version. A node has that version after 2^32 - 1 writes, and Set writes
// over it.
func (v *Value[T]) TrySet(ctx context.Context, previous Versioned[T], value T) (now Versioned[T], ok bool, err error) {
	return v.trySet(ctx, "try set", previous, value)
}

func (v *Value[T]) trySet(
	ctx context.Context, op string, previous Versioned[T], value T,
) (now Versioned[T], ok bool, err error) {
	data, err := v.codec.Encode(value)
	if err != nil {
		return now, false, v.node.errorOf(op, err)
	}
	calling, done := v.node.untilClosed(ctx)
	e := expected{previous.Exists, previous.Version, previous.Czxid, previous.Mzxid}
	s, ok, err := v.node.trySet(calling, e, data)
	err = done(err)
	if s == nil {
		return now, ok, v.node.errorOf(op, err)
	}
	now, undecoded := v.versioned(s)
	if err == nil {
		err = undecoded
	}
	return now, ok, v.node.errorOf(op, err)
}

// Changes returns the current value, as soon as the node was read, and then each later
// value. A slow reader holds up neither the Value nor other readers: it misses values in
// between, but never the latest. No value is older than the value before it.
//
// If the data cannot be decoded, the element has a *codec.DecodeError, and the loop goes
// on. If the Value ends, the last element has the error of Err. If ctx ends, the loop ends
// without an error.
func (v *Value[T]) Changes(ctx context.Context) iter.Seq2[Versioned[T], error] {
	return func(yield func(Versioned[T], error) bool) {
		for s, err := range v.node.changes(ctx) {
			if err != nil {
				yield(Versioned[T]{Value: v.seed}, err)
				return
			}
			if !yield(v.versioned(s)) {
				return
			}
		}
	}
}

// Close ends the Value, removes its watch, and returns when its goroutine has ended. The
// node stays. In an outage, Close returns nil at once, and deletes nothing; see "How a
// call ends a node" in the index of the recipes. Running calls return soon after, with an
// error that matches ErrClosed, and framework.ErrOutcomeUnknown if a write was sent.
// Close may be called more than once, and always returns nil. Closing the client closes
// its Values.
func (v *Value[T]) Close() error {
	v.node.life.Close()
	return nil
}

// Done is closed when the Value has ended. Err then returns the reason.
func (v *Value[T]) Done() <-chan struct{} { return v.node.life.Gone() }

// Err returns nil until the Value has ended. Then the error matches ErrClosed,
// framework.ErrClosed, or is a refusal that no retry can cure, such as zk.ErrNoAuth.
// Outages, lost sessions, failures of servers and refused credentials do not end a Value.
func (v *Value[T]) Err() error { return v.node.ended(v.node.life.Err()) }

// decoded is a decoded snapshot.
type decoded[T any] struct {
	of  *sharednode.Snapshot
	now Versioned[T]
	err error
}

// versioned decodes a snapshot, unless it was the last to be decoded. Concurrent readers
// may each call the codec.
func (v *Value[T]) versioned(s *sharednode.Snapshot) (Versioned[T], error) {
	if !s.Exists {
		return Versioned[T]{Value: v.seed}, nil
	}
	last := v.decoded.Load()
	if last == nil || !last.of.Same(s) {
		now, err := v.decode(s)
		last = &decoded[T]{s, now, err}
		v.decoded.Store(last)
	}
	return last.now, last.err
}

func (v *Value[T]) decode(s *sharednode.Snapshot) (Versioned[T], error) {
	now := Versioned[T]{Exists: true, Version: s.Version, Mzxid: s.Mzxid, Czxid: s.Czxid}
	value, err := v.codec.Decode(s.Data)
	if err != nil {
		v.node.events.Emit(eventUndecodable, nil)
		return now, &codec.DecodeError{Path: v.node.Path, Mzxid: s.Mzxid, Err: err}
	}
	now.Value = value
	return now, nil
}

// Update changes the value by a function, and returns the value it has written. Update
// calls change with the current value, or with the seed if the node does not exist, and
// writes the result if the node still has that value. If another client was faster,
// Update calls change again with the new value, after a pause that grows up to a second.
// So no change by Update is lost, with one exception: if the node is deleted and
// re-created at that moment, Update may write over the new node, and the error matches
// ErrNodeReplaced.
//
// change may be called several times, in the caller's goroutine. It should have no side
// effects, and must not change its argument.
//
// Update costs three requests, and one or two more for each time that another client was
// faster. Its errors are:
//
//   - the error of change, and then nothing is written;
//   - the errors of Refresh and TrySet: a *codec.DecodeError, ErrNodeReplaced, and
//     framework.ErrOutcomeUnknown if the outcome of the write is unknown.
func (v *Value[T]) Update(ctx context.Context, change func(old T) (T, error)) (now Versioned[T], err error) {
	const op = "update"
	if change == nil {
		return now, v.node.errorOf(op, bad("function", "nil", "must not be nil"))
	}
	contention := pauses.Contention()
	now, err = v.refresh(ctx, op)
	for written := false; err == nil && !written; {
		next, failed := change(now.Value)
		if failed != nil {
			return now, v.node.errorOf(op, reason.Foreign(failed))
		}
		now, written, err = v.trySet(ctx, op, now, next)
		if err == nil && !written {
			err = v.node.errorOf(op, v.waitForOthers(ctx, &contention))
		}
	}
	return now, err
}

// waitForOthers pauses before the next attempt. If the client is closed, waitForOthers
// returns an error at once.
func (v *Value[T]) waitForOthers(ctx context.Context, contention *pauses.Growing) error {
	calling, done := v.node.untilClosed(ctx)
	if err := done(follow.Pause(calling, v.node.Client, contention)); err != nil {
		return err
	}
	return context.Cause(framework.Extend(v.node.Client).Context())
}
