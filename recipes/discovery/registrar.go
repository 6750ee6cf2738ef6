package discovery

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/nodes"
)

// Registrar registers instances for a framework whose servers call Register when they
// start and Deregister when they stop. A program of your own has a [Registration].
//
// An instance whose Register has succeeded stays registered until its Deregister. If
// the servers refuse to re-create its node after a lost session, for example because
// of a quota, the Registrar retries: see nodes.WithRefusalsRetried.
//
// A Registrar is safe for concurrent use, and need not be closed: closing the client
// ends its registrations. The zero Registrar cannot be used: NewRegistrar makes one.
type Registrar struct {
	client *framework.Client
	base   string
	codec  Codec
	opts   []RegistrationOption

	mu sync.Mutex // protects the following field, and fields of its values

	// Deregister removes an instance when its node is gone. If its context ends before,
	// the next Register of a new instance does.
	kept map[place]*kept
}

// NewRegistrar returns a Registrar of instances below the base of a registry, with
// options for each registration. It contacts no server. What cannot be used is an
// error of Register.
func NewRegistrar(client *framework.Client, base string, codec Codec, opts ...RegistrationOption) *Registrar {
	retried := func(c *registrationConfig) { c.node = append(c.node, nodes.WithRefusalsRetried()) }
	opts = append([]RegistrationOption{retried}, opts...)
	return &Registrar{client: client, base: base, codec: codec, opts: opts, kept: map[place]*kept{}}
}

// kept is an instance from its first Register until its node is gone.
type kept struct {
	before *kept         // an earlier one of the place, which begins before this one; or nil
	begun  chan struct{} // closed when the registration has begun, or could not

	// These have the Registrar's mutex.
	registration *Registration // nil before it has begun, and if it could not
	failure      error         // why it could not begin
	calls        int           // of Register, under way
	settled      bool          // a Register has succeeded
	leaves       bool          // a Deregister has come, or nobody waits for an instance that was never registered
}

// Register registers an instance, and returns when its node is there. These are its
// errors:
//
//   - If ctx ends first, the error matches ctx.Err() and says what Register has waited
//     for, such as a *ConflictError.
//   - If the servers refuse the node, that is the error.
//   - If the client is closed, the error matches framework.ErrClosed.
//   - If Deregister comes first, Register returns nil.
//
// An instance whose first Register has failed is not registered later. One that is
// registered gets what is new in place, as by [Registration.Update], or later if ctx
// ends before that. If the codec or a server refuses what is new, the node says what
// it said.
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

// Deregister deletes the node of an instance, and returns when it is gone. The
// instance does not come back, whatever Deregister returns. What this Registrar has not
// registered is left alone, and is no error.
//
// In an outage, Deregister returns nil when the time of ctx is over: after an error,
// frameworks would not end their server. The client goes on, and deletes the node as
// soon as it has a connection, or the servers do when the session has timed out. An
// error matches context.Canceled if ctx was cancelled, or is the servers' refusal to
// delete the node. Deregister may be called again, to wait until the node is gone.
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
	case over == nil && framework.IsRefusal(err):
		return err
	}
	return nil
}

// errNotBegun is the error of Registers that have waited for one whose codec panicked.
var errNotBegun = errors.New("another Register of the instance panicked")

// join returns the instance at a place for a Register, and whether that has to begin
// it.
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

// hasFailed reports whether there is no registration that goes on, and none to come.
func (k *kept) hasFailed() bool {
	return isClosed(k.begun) && (k.registration == nil || k.registration.node.Err() != nil)
}

// isGone reports whether the node is gone, or was never begun.
func (k *kept) isGone() bool {
	return isClosed(k.begun) && (k.registration == nil || isClosed(k.registration.Done()))
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// begin begins a registration. It calls the codec, and so the mutex is not held.
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

// register waits until the node has an instance, which is news for one that is
// registered already.
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

// part ends a Register, and returns its error. The last Register of an instance that
// was never registered ends it.
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

// leave ends the instance at a place, if there is one, and returns it.
func (r *Registrar) leave(at place) *kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kept[at]
	if k != nil {
		k.leaveLocked()
	}
	return k
}

// leaveLocked begins the end of an instance. The mutex is held, because the next
// registration of the node is refused before the end of this one has begun.
func (k *kept) leaveLocked() {
	k.leaves = true
	if k.registration != nil {
		ended, cancel := context.WithCancel(context.Background())
		cancel() // Shutdown begins the end, and does not wait for it
		_ = k.registration.node.Shutdown(ended)
	}
}

// forget takes an instance out whose node is gone, unless another one has its place.
func (r *Registrar) forget(at place, k *kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept[at] == k {
		delete(r.kept, at)
	}
}
