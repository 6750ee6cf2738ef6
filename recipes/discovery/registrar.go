package discovery

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/nodes"
)

// Registrar registers instances for a framework whose servers call Register when they
// start and Deregister when they stop. Your own program should use a [Registration].
//
// After Register has succeeded, the instance stays registered until Deregister. If the
// server refuses to re-create the node after a lost session, for example because of a
// quota, the Registrar retries; see nodes.WithRefusalsRetried.
//
// A Registrar is safe for concurrent use, and need not be closed: closing the client
// ends its registrations. The zero Registrar cannot be used; NewRegistrar makes one.
type Registrar struct {
	client *framework.Client
	base   string
	codec  Codec
	opts   []RegistrationOption

	mu sync.Mutex // protects the following field, and fields of its values

	// Deregister removes an instance when its node is deleted. If the context of Deregister
	// ends before that, the first Register of a new instance after the deletion removes it.
	kept map[place]*kept
}

// NewRegistrar returns a Registrar of instances below the base of a registry. The options
// apply to each registration. NewRegistrar sends no request; Register returns the error
// of an invalid argument.
func NewRegistrar(client *framework.Client, base string, codec Codec, opts ...RegistrationOption) *Registrar {
	retried := func(c *registrationConfig) { c.node = append(c.node, nodes.WithRefusalsRetried()) }
	opts = append([]RegistrationOption{retried}, opts...)
	return &Registrar{client: client, base: base, codec: codec, opts: opts, kept: map[place]*kept{}}
}

// kept is an instance from its first Register until its node is deleted.
type kept struct {
	before *kept         // an earlier instance with the same ID, which begins first; or nil
	begun  chan struct{} // closed when the registration has begun, or has failed to begin

	// The Registrar's mutex protects the following fields.
	registration *Registration // nil until it has begun, and if it has failed to begin
	failure      error         // why the registration could not begin
	calls        int           // running calls of Register
	settled      bool          // a Register has succeeded
	leaves       bool          // Deregister was called, or all calls of Register have failed
}

// Register registers an instance, and returns when its node exists. The result is:
//
//   - an error that matches ctx.Err(), with the reason of the wait, such as a
//     *ConflictError, if ctx ends first;
//   - the server's error, if the server refuses the node;
//   - an error that matches framework.ErrClosed, if the client is closed;
//   - nil, also if Deregister is called first.
//
// If the first Register of an instance fails, the instance is not registered later. A
// Register of a registered instance updates the node in place, as [Registration.Update]
// does. If ctx ends before the update is written, the Registrar writes it in the
// background. If the codec or the server refuses the update, the node keeps its data.
func (r *Registrar) Register(ctx context.Context, i Instance) (err error) {
	if r.client == nil || r.codec == nil {
		return invalid("client or codec", "nil", "must not be nil")
	}
	news := i
	i = completed(i)
	if i.ID, _, err = r.codec.Encode(i); err != nil {
		return err
	}
	at := place{i.Service, i.ID}
	k, isFirst := r.join(at)
	if isFirst {
		r.begin(k, i)
	}
	return r.part(at, k, k.register(ctx, isFirst, news))
}

// Deregister deletes the node of an instance, and returns when the server has confirmed
// the deletion. Deregister returns nil for an instance that this Registrar has not
// registered. Whatever Deregister returns, the instance does not come back, except in one
// case: if the instance is Static or Permanent, and the reply to its create was lost
// together with the session, a stalled server may still create the node. The error then
// matches framework.ErrOutcomeUnknown.
//
// In an outage, Deregister returns nil when ctx reaches its deadline, because frameworks
// do not stop their server after an error. The client deletes the node in the background
// as soon as it is connected, or the server does when the session times out. Deregister
// returns an error that matches context.Canceled if ctx is cancelled, and the server's
// error if the server refuses to delete the node. Call Deregister again to wait until
// the node is deleted.
func (r *Registrar) Deregister(ctx context.Context, service, id string) error {
	at := place{service, id}
	k := r.leave(at)
	if k == nil {
		return nil
	}
	<-k.begun
	err := ctx.Err()
	if k.registration != nil {
		err = k.registration.Shutdown(ctx)
	}
	over := ctx.Err()
	switch {
	case err == nil:
		r.forget(at, k)
	case errors.Is(over, context.Canceled): //nolint:forbidigo // the caller's context, and not its cause
		return err
	case over == nil && (framework.IsRefusal(err) || k.mayComeBack(err)):
		return err
	}
	return nil
}

// mayComeBack reports whether a server may still create the node after its Shutdown has
// returned err. The node of a Dynamic instance ends with its session.
func (k *kept) mayComeBack(err error) bool {
	return k.registration.kept.Kind != Dynamic && reason.Is(err, framework.ErrOutcomeUnknown)
}

// errNotBegun is the error of a Register that waits for another Register whose codec
// panics.
var errNotBegun = errors.New("another Register of the instance panicked")

// join returns the instance at a place, and whether the caller must begin its
// registration.
func (r *Registrar) join(at place) (k *kept, isFirst bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k = r.kept[at]
	if k == nil || k.leaves || k.hasFailed() {
		maps.DeleteFunc(r.kept, func(_ place, k *kept) bool { return k.leaves && k.isGone() })
		k, isFirst = &kept{before: k, begun: make(chan struct{}), failure: errNotBegun}, true
		r.kept[at] = k
	}
	k.calls++
	return k, isFirst
}

// hasFailed reports whether the registration has failed to begin, or has ended.
func (k *kept) hasFailed() bool {
	return isClosed(k.begun) && (k.registration == nil || k.registration.node.Err() != nil)
}

// isGone reports whether the node of an instance that leaves is deleted, or the
// registration has failed to begin.
func (k *kept) isGone() bool {
	return isClosed(k.begun) && (k.registration == nil || k.registration.end() == nil)
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// begin begins the registration. It calls the codec, and so holds no mutex.
func (r *Registrar) begin(k *kept, i Instance) {
	defer close(k.begun)
	if k.before != nil {
		<-k.before.begun
		k.before = nil
	}
	registration, err := NewRegistration(r.client, r.base, r.codec, i, r.opts...)
	r.mu.Lock()
	defer r.mu.Unlock()
	k.registration, k.failure = registration, err
	if k.leaves {
		k.leaveLocked()
	}
}

// register waits until the node exists, or updates it if this is not the first Register.
func (k *kept) register(ctx context.Context, isFirst bool, news Instance) error {
	<-k.begun
	switch {
	case k.registration == nil:
		return k.failure
	case isFirst:
		_, err := k.registration.WaitRegistered(ctx)
		return err
	}
	return k.registration.Update(ctx, news)
}

// part ends a call of Register, and returns the call's error. If every Register of an
// instance has failed, the last one ends the registration.
func (r *Registrar) part(at place, k *kept, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	k.calls--
	switch {
	case k.leaves:
		return nil
	case err == nil:
		k.settled = true
	case !k.settled && k.calls == 0:
		k.leaveLocked()
		if r.kept[at] == k {
			delete(r.kept, at)
		}
	}
	return err
}

// leave begins the end of the instance at a place, and returns it, or nil.
func (r *Registrar) leave(at place) *kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kept[at]
	if k != nil {
		k.leaveLocked()
	}
	return k
}

// leaveLocked begins the end of an instance. It holds the mutex, because a new
// registration of the node is refused until the end of this one has begun.
func (k *kept) leaveLocked() {
	k.leaves = true
	if k.registration != nil {
		_ = k.registration.end()
	}
}

// end is a Shutdown that does not wait. It returns nil if the node is already deleted.
func (r *Registration) end() error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	return r.node.Shutdown(ended)
}

// forget removes an instance whose node is deleted, unless a later instance has its
// place.
func (r *Registrar) forget(at place, k *kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept[at] == k {
		delete(r.kept, at)
	}
}
