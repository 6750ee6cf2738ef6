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

// Registration keeps an instance registered from NewRegistration to Shutdown, through
// lost connections and sessions: its node is a nodes.PersistentNode. A Registration is
// safe for concurrent use. The zero Registration cannot be used; NewRegistration makes
// one.
//
// A Registration creates one node in each session, and updates it in place, so that
// readers see no gap while the session lives. After the session is lost, the first
// request of the next session creates the node again.
//
// These are the differences from Java Curator:
//
//   - Java deletes and re-creates its node after every reconnect, so that readers see a
//     gap.
//   - If another instance has the ID, a Registration reports a conflict. Java takes the
//     node over. A permanent node belongs to the instance with its address and ports.
//   - If the server removes an empty folder, the next Registration re-creates it. Java
//     Curator 5.4 does not register again in that case.
type Registration struct {
	client *framework.Client
	codec  Codec
	events event.Source
	node   *nodes.PersistentNode
	path   string   // of the node
	kept   Instance // fields that no Update changes: Service, ID and Kind; and the address of a permanent node

	turn chan struct{} // capacity 1: held by the call that changes last

	// last is the last instance given to the node. The server may refuse its data after
	// the call has returned. Only the holder of turn replaces last.
	last atomic.Pointer[said]
}

// said is an instance and its encoding.
type said struct {
	instance Instance
	data     []byte
}

// NewRegistration registers an instance below the base of a registry, until Shutdown.
// NewRegistration returns at once, even without a connection; WaitRegistered waits.
//
// An empty ID becomes a random UUID, or the name that the codec derives from the
// address. A zero Registered becomes the current time. The node is ephemeral, unless the
// instance's Kind is Static or Permanent: such a node survives its process, and a later
// process takes the node over if address and ports are the same. Any other node at the
// path is a conflict. DynamicSequential is an error, because the server would choose the
// ID. The errors are:
//
//   - framework.ErrClosed if the client is closed;
//   - nodes.ErrInUse if another Registration of this client has the path;
//   - an error that matches zk.ErrInvalidPath or zk.ErrBadArguments, or the codec's
//     error, for an invalid argument.
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

// decoded decodes the data of a node at the path.
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

// copied returns a deep copy of an instance.
func copied(i Instance) Instance {
	i.Metadata, i.Payload, i.URISpec = maps.Clone(i.Metadata), bytes.Clone(i.Payload), bytes.Clone(i.URISpec)
	return i
}

// completed returns a copy of an instance with defaults for empty fields.
func completed(i Instance) Instance {
	i = copied(i)
	i.ID = cmp.Or(i.ID, znode.GUID())
	if i.Registered.IsZero() {
		i.Registered = time.Now()
	}
	return i
}

// WaitRegistered waits until this Registration's node exists, and returns it. If ctx ends
// first, the error matches ctx.Err() and has the reason of the wait: a *ConflictError,
// or the last error of the server or of an attempt to connect. The Registration keeps
// trying after that. If the Registration has ended, WaitRegistered returns Err.
func (r *Registration) WaitRegistered(ctx context.Context) (nodes.Registration, error) {
	there, err := r.node.WaitRegistered(ctx)
	return there, r.named(err)
}

// Instance returns a copy of the instance as the last call of Update, Drain or Resume
// has left it, even if the server does not have the data yet. If the server refuses the
// data after that call has returned, Instance returns the instance decoded from the
// data before. The caller may change the result, and pass it to Update.
func (r *Registration) Instance() Instance {
	data := r.node.Data() // before last, which change stores before it calls Set
	last := r.last.Load()
	if !bytes.Equal(data, last.data) {
		if i, err := r.decoded(data); err == nil {
			return copied(i)
		}
	}
	return copied(last.instance)
}

// Update replaces the data of the node in place, and returns when the server has the
// new data. Service, ID and Kind do not change, and a zero Registered keeps its value.
// Update returns an error if the instance would get another node, because some codecs
// derive a node's name from the address. Update also returns an error for a new address
// or port of a Static or Permanent instance, because a later process recognizes the node
// by them.
//
// Updates run one at a time. If ctx ends while an Update waits for its turn, Update
// changes nothing, and its error has the last error of the node. If ctx ends later, the
// Registration writes the data in the background. If the codec or the server refuses
// the data, Update returns that error, and the node keeps its old data. The node also keeps
// its old data if the server refuses the new data after Update has returned.
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

// Drain marks the instance in its node as one that does not want to be picked, and
// returns when that is written. The instance stays visible, so that clients can finish
// their requests. Drain returns an error if the codec's format has no such mark.
func (r *Registration) Drain(ctx context.Context) error {
	return r.setDisabled(ctx, true)
}

// Resume undoes Drain, or an Update with Disabled.
func (r *Registration) Resume(ctx context.Context) error { return r.setDisabled(ctx, false) }

func (r *Registration) setDisabled(ctx context.Context, disabled bool) error {
	return r.change(ctx, func(i Instance) Instance {
		i.Disabled = disabled
		return i
	})
}

// change applies a change to the instance, and waits until the node has the data.
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
		return r.named(invalid("instance", name, "must keep its node"))
	}
	before := r.last.Load()
	r.last.Store(&said{next, data})
	if err = r.node.Set(ctx, data); framework.IsRefusal(err) {
		r.last.Store(before)
	}
	r.tell(was, r.Instance()) // next, if the answer is missing
	return r.named(err)
}

func (r *Registration) isPermanent() bool { return r.kept.Kind == Static || r.kept.Kind == Permanent }

// takeTurn waits until no other call changes the instance.
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

// gaveUp is the error of a change whose context has ended before its turn. The last
// error of the node holds up the change before it, and so this change, too.
func (r *Registration) gaveUp(ctx context.Context) error {
	if err := r.node.LastError(); err != nil {
		return fmt.Errorf("%w (last error: %w)", reason.OfContext(ctx), err)
	}
	return reason.OfContext(ctx)
}

// Node returns the node of the Registration. Its Changes report what happens to the node.
// The context of its session ends when the node can no longer be relied on. Do not call
// its Set and Shutdown.
func (r *Registration) Node() *nodes.PersistentNode { return r.node }

// Shutdown deletes the node, and returns nil when a server has confirmed the deletion.
// In an outage, Shutdown returns an error when ctx or the connection timeout is over,
// and the client deletes the node in the background; see "How a call ends a node" in
// the index of the recipes. The instance does not come back, unless the error matches
// framework.ErrOutcomeUnknown; see nodes.PersistentNode.Shutdown. Shutdown leaves the
// nodes of other clients alone, with the one exception that the limits of
// nodes.PersistentNode describe.
//
// To let clients finish their requests, call Drain first, and wait as long as requests
// take. Closing the client ends its registrations.
func (r *Registration) Shutdown(ctx context.Context) error {
	return r.named(r.node.Shutdown(ctx))
}

// Done is closed when the Registration has ended. Err then returns the reason.
func (r *Registration) Done() <-chan struct{} { return r.node.Done() }

// Err returns nil until the Registration has ended, and then the reason; see
// nodes.PersistentNode.Err. The error of a conflict is a *ConflictError.
func (r *Registration) Err() error { return r.named(r.node.Err()) }

// named adds the other instance to the error of a conflict.
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
