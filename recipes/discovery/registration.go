package discovery

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/nodes"
)

// Registration keeps an instance registered from NewRegistration to Shutdown,
// whatever happens to connections and sessions: its node is a
// nodes.PersistentNode. It is safe for concurrent use. The zero Registration
// cannot be used: NewRegistration makes one.
//
// The node is created once in a session. Updates change its data in place. It is
// never deleted and created again while the session lives, so that readers see
// no gap. After a loss of the session, the first request of the next session
// creates it.
type Registration struct {
	client *framework.Client
	codec  Codec
	events event.Source
	node   *nodes.PersistentNode
	path   string   // the node's
	kept   Instance // what no Update changes: Service, ID and Kind; and the address of a permanent node

	turn chan struct{} // capacity 1: taken by whoever changes what the node is to say

	// last is what the node was told to say last, which the server may refuse when
	// nobody waits for it any more. Whoever has the turn replaces it.
	last atomic.Pointer[said]
}

// said is an instance, and what the codec makes of it.
type said struct {
	instance Instance
	data     []byte
}

// NewRegistration registers an instance below the base of a registry from now
// on, until Shutdown. It does not wait, not even for a connection:
// WaitRegistered does.
//
// An empty ID becomes a random UUID, or the name that the format makes of the
// address. A zero Registered becomes the time now. The node is ephemeral, unless
// the instance's Kind is Static or Permanent: such a node outlives its process,
// and a later process takes it over if the node has the same address and ports.
// Any other node is a conflict. DynamicSequential cannot be used, because the
// servers would choose the ID. These are its errors:
//
//   - framework.ErrClosed if the client is closed.
//   - nodes.ErrInUse if another Registration of this client has the path.
//   - zk.ErrInvalidPath, zk.ErrBadArguments, or the codec's error, for what
//     cannot be used.
func NewRegistration(
	client *framework.Client, base string, codec Codec, i Instance, opts ...RegistrationOption,
) (*Registration, error) {
	r, err := register(client, base, codec, completed(i), opts)
	if err != nil {
		return nil, fmt.Errorf("register %q: %w", i.Service, err)
	}
	return r, nil
}

func register(
	client *framework.Client, base string, codec Codec, i Instance, opts []RegistrationOption,
) (*Registration, error) {
	var cfg registrationConfig
	mode, wrongKind := modeOf(i.Kind)
	dir, err := dirOf(base, codec, i.Service)
	if err := cmp.Or(applyAll(&cfg, opts), wrongKind, err); err != nil {
		return nil, err
	}
	r := &Registration{client: client, codec: codec, turn: make(chan struct{}, 1)}
	name, data, err := codec.Encode(i)
	if err := cmp.Or(err, checkID(name)); err != nil {
		return nil, err
	}
	i.ID = name
	r.kept = i
	r.last.Store(&said{i, data})
	r.path = znode.Join(dir, name)
	r.events = event.Of(client, r.path)
	own, _ := r.decoded(data)
	claim := nodes.WithClaim(func(data []byte) bool {
		was, err := r.decoded(data)
		return err == nil && identityOf(was) == identityOf(own)
	})
	r.node, err = nodes.NewPersistentNode(client, r.path, data, append(cfg.node, nodes.WithMode(mode), claim)...)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// decoded returns the instance that a node at the path describes.
func (r *Registration) decoded(data []byte) (Instance, error) {
	i, err := r.codec.Decode(r.kept.Service, r.kept.ID, data)
	i.Service, i.ID, i.Kind = r.kept.Service, r.kept.ID, r.kept.Kind
	return i, err
}

// dirOf returns the path of a service's nodes below the base of a registry.
func dirOf(base string, codec Codec, service string) (string, error) {
	if codec == nil {
		return "", invalid("codec", "nil", "must not be nil")
	}
	if err := framework.ValidatePath(base); err != nil {
		return "", err
	}
	dir, err := codec.Dir(service)
	if dir == "/" {
		return base, err
	}
	return strings.TrimSuffix(base, "/") + dir, err
}

// modeOf returns the mode of the node of an instance.
func modeOf(k Kind) (framework.Mode, error) {
	switch k {
	case Dynamic:
		return framework.Ephemeral, nil
	case Static, Permanent:
		return framework.Persistent, nil
	}
	return 0, invalid("kind", int(k), "must be Dynamic, Static or Permanent")
}

// copied returns a copy of an instance that the caller cannot change.
func copied(i Instance) Instance {
	i.Metadata, i.Payload, i.URISpec = maps.Clone(i.Metadata), bytes.Clone(i.Payload), bytes.Clone(i.URISpec)
	return i
}

// completed returns a copy of an instance with what the caller has left out.
func completed(i Instance) Instance {
	i = copied(i)
	i.ID = cmp.Or(i.ID, znode.GUID())
	if i.Registered.IsZero() {
		i.Registered = time.Now()
	}
	return i
}

// WaitRegistered waits until the node is there and is ours, and returns it. If
// ctx ends first, the error matches ctx.Err(), and says what it has waited for:
// a *ConflictError, or the last error of the server or of an attempt to connect.
// The instance is registered all the same when that is possible. If the
// Registration has ended, the error is Err's.
func (r *Registration) WaitRegistered(ctx context.Context) (nodes.Registration, error) {
	there, err := r.node.WaitRegistered(ctx)
	return there, r.named(err)
}

// Instance returns what the node says, or is to say: the last Update that was not
// refused, with what Drain and Resume have done since. If the server refuses an
// Update after its call has returned, Instance returns what the codec decodes from
// the data before that Update. The caller may change the result and pass it to Update.
func (r *Registration) Instance() Instance {
	data := r.node.Data() // first: what the data say is there then
	last := r.last.Load()
	if !bytes.Equal(data, last.data) {
		if i, err := r.decoded(data); err == nil {
			return copied(i)
		}
	}
	return copied(last.instance)
}

// Update replaces what the node says, in place, and returns when the node has
// it. The service, the ID and the Kind stay as they are, and so does Registered
// if it is zero. An instance that would get another node, because its format
// names nodes by their address, is an error: it is another instance. An Update that
// gives a Static or Permanent instance another address or port is an error, too,
// because a later process recognizes the node by them.
//
// Updates are made one after the other. One whose ctx ends before its turn has
// changed nothing, and its error says what the one before it waits for. If ctx ends
// later, the node gets the data later. If the codec or the server refuses the data,
// that is the error, and the node says what it said, also if the server does so when
// the call has returned.
func (r *Registration) Update(ctx context.Context, i Instance) error {
	i = copied(i)
	return r.change(ctx, func(was Instance) Instance {
		i.Service, i.ID, i.Kind = was.Service, was.ID, was.Kind
		if i.Registered.IsZero() {
			i.Registered = was.Registered
		}
		return i
	})
}

// Drain writes into the node that the instance does not want to be picked, and
// returns when that is written. The instance stays visible, and its clients can
// finish. A format that cannot say it is an error.
func (r *Registration) Drain(ctx context.Context) error {
	return r.setDisabled(ctx, true)
}

// Resume ends what Drain, or an Update with Disabled, has begun.
func (r *Registration) Resume(ctx context.Context) error { return r.setDisabled(ctx, false) }

func (r *Registration) setDisabled(ctx context.Context, disabled bool) error {
	return r.change(ctx, func(i Instance) Instance {
		i.Disabled = disabled
		return i
	})
}

// change changes what the node is to say, and waits until the node says it.
func (r *Registration) change(ctx context.Context, change func(was Instance) Instance) error {
	if err := r.takeTurn(ctx); err != nil {
		return r.named(err)
	}
	defer func() { <-r.turn }()
	was := r.Instance()
	next := change(was)
	name, data, err := r.codec.Encode(next)
	switch {
	case err != nil:
		return r.named(err)
	case name != r.kept.ID, r.isPermanent() && identityOf(next) != identityOf(r.kept):
		return r.named(invalid("instance", name, "must have the node of before"))
	}
	before := r.last.Load()
	r.last.Store(&said{next, data})
	if err = r.node.Set(ctx, data); framework.IsRefusal(err) {
		r.last.Store(before)
	}
	r.tell(was, r.Instance()) // if there is no answer, next is what is wanted
	return r.named(err)
}

func (r *Registration) isPermanent() bool { return r.kept.Kind == Static || r.kept.Kind == Permanent }

// takeTurn waits until nobody else changes what the node is to say.
func (r *Registration) takeTurn(ctx context.Context) error {
	if ctx.Err() != nil {
		return r.gaveUp(ctx)
	}
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-r.node.Done():
		return r.node.Err()
	case <-ctx.Done():
		return r.gaveUp(ctx)
	}
}

// gaveUp is the error of a change whose context has ended before its turn. What
// keeps the one before it keeps this one, too.
func (r *Registration) gaveUp(ctx context.Context) error {
	if trouble := r.node.LastError(); trouble != nil {
		return fmt.Errorf("%w (last error: %w)", reason.OfContext(ctx), trouble)
	}
	return reason.OfContext(ctx)
}

// Node returns the node that is kept: what becomes of it is told by its Changes
// and Registration, and its session's context ends when the node cannot be
// relied on. Do not call its Set and Shutdown.
func (r *Registration) Node() *nodes.PersistentNode { return r.node }

// Shutdown deletes the node, and returns nil when a server has said that it is gone.
// In an outage, Shutdown returns an error when ctx or the connection timeout is over,
// and the client deletes the node in the background; see "How a call ends a node" in
// the index of the recipes. The instance does not come back. A node of another client
// is never deleted.
//
// To let clients finish first, call Drain before, and wait as long as that may
// take. Closing the client ends its registrations.
func (r *Registration) Shutdown(ctx context.Context) error {
	return r.named(r.node.Shutdown(ctx))
}

// Done is closed when the Registration has ended, for the reason that Err
// returns.
func (r *Registration) Done() <-chan struct{} { return r.node.Done() }

// Err returns why the Registration has ended, or nil if it has not: see
// nodes.PersistentNode.Err. A conflict is a *ConflictError.
func (r *Registration) Err() error { return r.named(r.node.Err()) }

// named returns an error of the node with what a node in the way says.
func (r *Registration) named(err error) error {
	var conflict *nodes.ConflictError
	if !reason.As(err, &conflict) {
		return err
	}
	other := Instance{Service: r.kept.Service, ID: r.kept.ID}
	if conflict.Data != nil {
		if read, malformed := r.decoded(conflict.Data); malformed == nil {
			other = read
		}
	}
	return &ConflictError{Instance: other, Node: conflict, err: err}
}
