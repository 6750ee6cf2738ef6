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

// Value is a value that all processes share: the data of one node, followed by
// watch. It is safe for concurrent use and must be closed. The zero Value
// cannot be used: NewValue makes one.
type Value[T any] struct {
	node    *replica
	codec   codec.Codec[T]
	seed    T
	decoded atomic.Pointer[decoded[T]] // the last snapshot that was asked for
}

// Count is a shared number, in the encoding of Curator's SharedCount. The zero
// Count cannot be used: NewCount makes one.
type Count = Value[int32]

// Versioned is a value as of one transaction.
type Versioned[T any] struct {
	// Value is shared by all who have asked for it, and must not be changed. It
	// is the seed if there is no node.
	Value T

	// Exists is false if there is no node. Version, Mzxid and Czxid are zero
	// then.
	Exists bool

	// Version counts the writes of the node. It can wrap, and begins anew when
	// somebody deletes and re-creates the node. Only Mzxid tells which of
	// two values is newer.
	Version int32
	Mzxid   int64 // the transaction that wrote the value
	Czxid   int64 // the transaction that created the node
}

// NewCount returns a number. See NewValue. Data that does not have four bytes
// is a *codec.DecodeError.
func NewCount(c *framework.Client, path string, seed int32) (*Count, error) {
	return newValue("new count", c, path, codec.Int32(), seed)
}

// NewValue returns the value of the node with this path, and begins to follow
// it. It does not wait for that; WaitSynced does. If the node does not exist
// then, it is created with the seed, and missing parents as containers. It is
// created again if somebody deletes it before it was read, and after that only
// by Set and TrySet.
//
// A path that cannot be used is an error that matches zk.ErrInvalidPath. Any
// other such argument is a *framework.ConfigError. A seed that the codec cannot
// encode, or cannot decode again, is the codec's error. A closed client is
// framework.ErrClosed.
func NewValue[T any](c *framework.Client, path string, codec codec.Codec[T], seed T) (*Value[T], error) {
	return newValue("new value", c, path, codec, seed)
}

// newValue is the constructor that the user has called by the name op.
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
	if seed, err = codec.Decode(data); err != nil { // a copy, which the caller cannot change
		return nil, r.errorOf(op, fmt.Errorf("encoded seed: %w", err))
	}
	if r, err = newReplica(c, path, data); err != nil {
		return nil, r.errorOf(op, err)
	}
	return &Value[T]{node: r, codec: codec, seed: seed}, nil
}

// WaitSynced waits until the node was read, or created, for the first time. The
// error matches ctx's, or is Err's.
func (v *Value[T]) WaitSynced(ctx context.Context) error {
	return v.node.errorOf("wait synced", v.node.life.Wait(ctx, v.node.wasRead))
}

// Get returns the newest value that this client knows of, from memory. It never
// returns an older one than before. It lags behind by the time of a request,
// and in an outage by as long as that lasts.
//
// Somebody may have deleted the node. There is no value then: Exists is false,
// and Value is the seed. The next Set or TrySet creates the node.
//
// The error matches ErrNotSynced before the first read, and is a
// *codec.DecodeError for data that is no value; the other fields are set then.
// The last value can still be read after the Value has ended.
func (v *Value[T]) Get() (Versioned[T], error) {
	s := v.node.latest()
	if s == nil {
		return Versioned[T]{Value: v.seed}, v.node.errorOf("get", ErrNotSynced)
	}
	return v.versioned(s)
}

// Refresh asks the server to catch up, and returns a value that is as new as
// this call. Leaders have the exceptions that framework.Client.Sync lists. It
// costs two requests. The error is a request's, or Get's.
func (v *Value[T]) Refresh(ctx context.Context) (Versioned[T], error) {
	return v.refresh(ctx, "refresh")
}

func (v *Value[T]) refresh(ctx context.Context, op string) (Versioned[T], error) {
	err := v.node.life.Err()
	if err == nil {
		ctx, done := v.node.untilClosed(ctx)
		defer done()
		err = v.node.refresh(ctx, true)
	}
	if err != nil {
		return Versioned[T]{Value: v.seed}, v.node.errorOf(op, err)
	}
	return v.Get()
}

// Set writes a value, whatever is there, and creates the node if it does not
// exist. It waits for one request, and for two if the node does not exist. The
// package documentation says what else a write costs.
//
// If the reply is lost and the session lives on, Set looks at the node. It
// succeeds if the node has this value, and writes again if nobody has written
// meanwhile. Otherwise, and if the session or ctx ends before, the error
// matches framework.ErrOutcomeUnknown. The creation of a missing node is never
// requested again, so that its outcome is unknown unless the node has this
// value. Set never writes twice.
func (v *Value[T]) Set(ctx context.Context, value T) error {
	_, err := v.set(ctx, value)
	return err
}

func (v *Value[T]) set(ctx context.Context, value T) (s *sharednode.Snapshot, err error) {
	data, err := v.codec.Encode(value)
	if err != nil {
		return nil, v.node.errorOf("set", err)
	}
	ctx, done := v.node.untilClosed(ctx)
	defer done()
	s, err = v.node.set(ctx, data)
	return s, v.node.errorOf("set", err)
}

// TrySet writes a value if the node still has the previous one: a Versioned
// that this Value, or another one of the path, has returned. If that does not
// exist, such as in the zero Versioned, the node must not exist either, and is
// created. It waits for one request, or for none if a newer value is known
// already.
//
// TrySet returns the value that the node has then, and whether it is this one:
//
//   - If ok is true, this call has written it.
//   - If ok is false and err is nil, it has not. The value that is returned is
//     the one that is in the way.
//   - If the error matches framework.ErrOutcomeUnknown, the reply was lost, and
//     the node does not tell whose write it shows. That is so if the node has the
//     same bytes, which another writer may have written, if others have written
//     since, and if the session or ctx ended before TrySet could look.
//     Otherwise TrySet finds out. The creation of a missing node whose reply is
//     lost is always of unknown outcome.
//   - If the error is a *codec.DecodeError, the codec cannot read the value
//     that the node has then. Value is zero, the other fields and ok are as
//     they are without an error, and TrySet can be called with the result.
//   - If the error matches ErrNodeReplaced, ok is true.
//
// A previous version of -1 is an error that matches zk.ErrBadArguments: servers
// take it for any version. It comes after 2^32 writes, and Set overcomes it.
func (v *Value[T]) TrySet(ctx context.Context, previous Versioned[T], value T) (now Versioned[T], ok bool, err error) {
	return v.trySet(ctx, "try set", previous, value)
}

func (v *Value[T]) trySet(ctx context.Context, op string, previous Versioned[T], value T) (now Versioned[T], ok bool, err error) {
	data, err := v.codec.Encode(value)
	if err != nil {
		return now, false, v.node.errorOf(op, err)
	}
	ctx, done := v.node.untilClosed(ctx)
	defer done()
	e := expected{previous.Exists, previous.Version, previous.Czxid, previous.Mzxid}
	s, ok, err := v.node.trySet(ctx, e, data)
	if s == nil {
		return now, ok, v.node.errorOf(op, err)
	}
	now, undecoded := v.versioned(s)
	if err == nil {
		err = undecoded
	}
	return now, ok, v.node.errorOf(op, err)
}

// Changes returns the present value, once the node was read, and then each
// later one. A slow reader holds up nobody: it misses values in between, and
// never the last. No value is older than the one before it.
//
// Data that is no value comes with a *codec.DecodeError, and the loop goes on.
// Any other error is the last element: Err's. The end of ctx is no error.
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

// Close ends the Value, withdraws its watch and returns when nothing of it goes on.
// The node stays. In an outage, Close returns nil at once, and deletes nothing; see
// "How a call ends a node" in the index of the recipes. Calls under way return soon
// after, with an error that matches ErrClosed, and framework.ErrOutcomeUnknown if a
// write was sent. Close may be called more than once, and always returns nil. A client
// that is closed closes its Values.
func (v *Value[T]) Close() error {
	v.node.life.Close()
	return nil
}

// Done is closed when the Value has ended, for the reason that Err returns.
func (v *Value[T]) Done() <-chan struct{} { return v.node.life.Gone() }

// Err returns nil while the Value works. After that it is an error that matches
// ErrClosed, framework.ErrClosed, or a refusal that waiting does not cure, such
// as zk.ErrNoAuth. Outages, losses of the session, servers in trouble and
// refused credentials do not end it.
func (v *Value[T]) Err() error { return v.node.ended(v.node.life.Err()) }

// decoded is what the codec has made of a snapshot.
type decoded[T any] struct {
	of  *sharednode.Snapshot
	now Versioned[T]
	err error
}

// versioned decodes a snapshot, unless it is the one that was decoded last. Readers
// that meet may call the codec more than once.
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

// Update changes the value by a function of the user's, and returns what it has
// written. The function is called with the value of that moment, which is the
// seed if there is no node. What it returns is written if the node still has
// that value. If somebody else has written meanwhile, the function is called
// again with the new value, after a pause that grows up to a second. So no
// change by Update gets lost, and the function should have no other effect. It is
// called on the caller's goroutine, and must not change the value that it is
// given. There is one exception: if somebody deletes the node and makes it anew at
// that moment, Update may write over it, and the error matches ErrNodeReplaced.
//
// Update costs three requests, and one or two more for each time that somebody
// else was first. These are its errors:
//
//   - The function's, if it fails. Nothing is written then.
//   - Those of Refresh and TrySet: a *codec.DecodeError for data that is no
//     value, ErrNodeReplaced, and framework.ErrOutcomeUnknown if nobody knows
//     whether the value was written.
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

// waitForOthers pauses until those who were first may be done. The end of the
// client ends the pause, and the function is not called again.
func (v *Value[T]) waitForOthers(ctx context.Context, contention *pauses.Growing) error {
	ctx, done := v.node.untilClosed(ctx)
	defer done()
	if err := follow.Pause(ctx, v.node.Client, contention); err != nil {
		return err
	}
	return context.Cause(framework.Extend(v.node.Client).Context())
}
