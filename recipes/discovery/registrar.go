package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/nodes"
)

// Registrar registers instances for a framework whose servers call Register when they
// start and Deregister when they stop. A program of your own has a [Registration].
//
// An instance whose Register has succeeded stays registered until its Deregister. A
// refusal of the servers ends a Registration, such as one because of a quota when the
// node is to be re-created after a lost session. The Registrar then logs the refusal,
// and tries again after pauses of up to half a minute.
//
// A Registrar is safe for concurrent use, and need not be closed: closing the client
// ends its registrations. The zero Registrar cannot be used: NewRegistrar makes one.
type Registrar struct {
	client *framework.Client
	base   string
	codec  Codec
	opts   []RegistrationOption

	mu   sync.Mutex // protects the following field, and fields of its values
	kept map[place]*kept
}

// NewRegistrar returns a Registrar of instances below the base of a registry, with
// options for each registration. It contacts no server. What cannot be used is an
// error of Register.
func NewRegistrar(client *framework.Client, base string, codec Codec, opts ...RegistrationOption) *Registrar {
	return &Registrar{client: client, base: base, codec: codec, opts: slices.Clone(opts), kept: map[place]*kept{}}
}

// kept is an instance from its first Register until its node is gone. Its goroutine
// begins one registration after the other.
type kept struct {
	*Registrar
	at   place
	life follow.Life   // from the first Register to Deregister
	wake chan struct{} // capacity 1: there is a new wish

	// These have the Registrar's mutex. Wishes are counted from 1.
	wish    Instance // what the next registration says
	wishes  int
	begun   int           // the wish of the last registration that was begun, or could not be
	now     *Registration // the last one that was begun, which may have ended; nil if there was none
	failed  int           // the wish of the last one that has ended by itself, or could not be begun
	failure error         // why

	calls   int  // of Register, under way
	settled bool // a Register has succeeded
	leaves  bool // a Deregister has come, or nobody waits for an instance that was never registered
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
	k, err := r.join(place{i.Service, i.ID})
	if err != nil {
		return err
	}
	result := follow.ErrNoReturn
	defer func() { err = r.part(k, result) }()
	result = k.register(ctx, i, news)
	return result
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
	k, registration := r.leave(place{service, id})
	err := ctx.Err()
	if registration != nil {
		err = registration.Shutdown(ctx)
	}
	over := ctx.Err()
	switch {
	case err == nil:
		r.forget(k)
	case errors.Is(over, context.Canceled): //nolint:forbidigo // the caller's context, and not its cause
		return err
	case over == nil && framework.IsRefusal(err):
		return err
	}
	return nil
}

// join returns the instance at a place for a Register.
func (r *Registrar) join(at place) (*kept, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kept[at]
	if k == nil || k.leaves || k.life.Err() != nil {
		k = &kept{Registrar: r, at: at, wake: make(chan struct{}, 1)}
		k.life = follow.Life{Client: r.client, Closed: nodes.ErrClosed, Run: k.run, GaveUp: k.gaveUp}
		if err := k.life.Start(); err != nil {
			return nil, err
		}
		r.kept[at] = k
	}
	k.calls++
	return k, nil
}

// part ends a Register, and returns its error. The last Register of an instance that
// was never registered ends it.
func (r *Registrar) part(k *kept, err error) error {
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
	}
	return err
}

// leave ends the instance at a place, if there is one, and returns its last
// registration, if there was one.
func (r *Registrar) leave(at place) (*kept, *Registration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kept[at]
	if k == nil {
		return nil, nil
	}
	k.leaveLocked()
	return k, k.now
}

// leaveLocked begins the end of an instance. The mutex is held, because the next
// registration of the node is refused before the end of this one has begun.
func (k *kept) leaveLocked() {
	k.leaves = true
	k.life.Stop()
	if k.now != nil {
		_ = k.now.Shutdown(ended)
	}
}

// ended is the context of a Shutdown that begins the end, and does not wait for it.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (r *Registrar) forget(k *kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k != nil && r.kept[k.at] == k {
		delete(r.kept, k.at)
	}
}

// register waits until the node has an instance, which is news for one that is
// registered already.
func (k *kept) register(ctx context.Context, i, news Instance) error {
	wish := 0
	for {
		var now *Registration
		var isMine bool
		var failure error
		err := k.life.Wait(ctx, func() bool {
			now, isMine, failure = k.look(i, &wish)
			return now != nil || failure != nil
		})
		switch {
		case err != nil:
			return err
		case failure != nil:
			return failure
		case isMine:
			_, err = now.WaitRegistered(ctx)
			return err
		}
		if err = now.Update(ctx, news); framework.IsRefusal(err) {
			// The refusal may be of the node itself, which ends the registration a
			// moment later.
			_, _ = now.WaitRegistered(ctx)
		}
		if err == nil || now.Err() == nil || ctx.Err() != nil {
			return err
		} // it has ended, and the next one will be mine
	}
}

// look returns the registration that goes on, and whether it has begun with a wish, or
// a later one. If there is none, it makes the wish, once, or returns why it has failed.
func (k *kept) look(i Instance, wish *int) (now *Registration, isMine bool, failure error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.leaves:
		return nil, false, nodes.ErrClosed
	case k.now != nil && k.now.Err() == nil:
		return k.now, *wish > 0 && k.begun >= *wish, nil
	case *wish > 0 && k.failed >= *wish:
		return nil, false, k.failure
	case *wish == 0:
		k.wishes++
		k.wish, *wish = i, k.wishes
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
	return nil, false, nil
}

const (
	shortestPause = time.Second
	longestPause  = 30 * time.Second
)

// run registers the instance until ctx ends, again after each failure.
func (k *kept) run(ctx context.Context) error {
	var due <-chan time.Time
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		select {
		case <-k.wake:
		case <-due:
		case <-ctx.Done():
			return reason.OfContext(ctx)
		}
		begun := time.Now()
		err := k.once(ctx)
		if ctx.Err() != nil {
			return reason.OfContext(ctx)
		}
		k.fail(err)
		if time.Since(begun) > 2*longestPause {
			pause = shortestPause
		}
		due = time.After(pause)
	}
}

// once begins a registration, and returns why it has ended.
func (k *kept) once(ctx context.Context) error {
	registration, err := k.begin()
	if err != nil {
		return err
	}
	select {
	case <-registration.Done():
		return registration.Err()
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}

// begin begins a registration. The mutex is held meanwhile: after the end of a
// Deregister, nothing begins.
func (k *kept) begin() (*Registration, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.leaves {
		return nil, nodes.ErrClosed
	}
	k.begun = k.wishes
	registration, err := NewRegistration(k.client, k.base, k.codec, k.wish, k.opts...)
	if err == nil {
		k.now = registration
		k.life.Tell()
	}
	return registration, err
}

// fail notes why the last registration has ended. The next one says what that one was
// to say, unless there is a newer wish.
func (k *kept) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failed, k.failure = k.begun, err
	if k.now != nil && k.begun == k.wishes {
		k.wish = k.now.Instance()
	}
	if k.settled { // a Register returns the error otherwise
		k.events().Emit(eventRefused, err)
	}
	k.life.Tell()
}

func (k *kept) events() event.Source {
	dir, _ := dirOf(k.base, k.codec, k.at.service)
	return event.Of(k.client, znode.Join(dir, k.at.id))
}

// gaveUp is the error of a Register whose context has ended while there was no
// registration.
func (k *kept) gaveUp(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failure != nil {
		return fmt.Errorf("%w (last error: %w)", reason.OfContext(ctx), k.failure)
	}
	return reason.OfContext(ctx)
}
