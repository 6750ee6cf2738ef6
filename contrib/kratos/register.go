package zookeeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-kratos/kratos/v2/registry"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// key is what a node is found by.
type key struct{ service, id string }

// registration is what Register has begun, until its node is gone. The mutex of the
// Registry protects its fields.
type registration struct {
	*discovery.Registration
	leaves bool // its end has begun
}

// call is a Register under way.
type call struct {
	key    key
	cancel context.CancelFunc // of what it does before it has a registration
}

// ended is the context of a Shutdown that begins the end, and does not wait for it.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// Register is for kratos, which calls it when an app starts. It returns when the
// node is there, and keeps it there until Deregister. If ctx ends before, nothing
// stays registered, and the error says what it has waited for, such as a
// *discovery.ConflictError. If Deregister comes before, it returns nil.
//
// An instance that is registered already gets what is new in place. If ctx ends
// before, the node says what it said, and gets what is new later. Others see that at
// once. kratos's own registry does not look at it before another instance comes or
// goes.
func (r *Registry) Register(ctx context.Context, service *registry.ServiceInstance) error {
	i, err := instanceOf(service)
	if err == nil {
		err = r.unusable()
	}
	if err == nil {
		err = r.register(ctx, i)
	}
	if err != nil {
		return fmt.Errorf("register in ZooKeeper: %w", err)
	}
	return nil
}

func (r *Registry) register(ctx context.Context, i discovery.Instance) error {
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &call{key{i.Service, i.ID}, cancel}
	r.note(c)
	defer r.forget(c)
	for {
		registration, isNew, err := r.begin(starting, c, i)
		if registration == nil {
			return err
		}
		if isNew {
			_, err = registration.WaitRegistered(ctx)
		} else {
			err = registration.Update(ctx, i)
		}
		if err == nil {
			return nil
		}
		deregistered, leaves := r.becomes(registration, isNew, c)
		switch {
		case deregistered:
			return nil // an app that is stopped while it starts is no failure
		case isNew:
			_ = r.drop(ctx, c.key, registration) // it is gone, or ctx has ended, and the client goes on
			return err
		case !leaves || ctx.Err() != nil:
			return err
		} // the Register that has begun it has given up, and this one has not
	}
}

func (r *Registry) note(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[c] = true
}

func (r *Registry) forget(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, c)
}

// begin makes the folder of an instance, and returns its registration. There is none
// if a Deregister comes before, which is no error.
func (r *Registry) begin(ctx context.Context, c *call, i discovery.Instance) (_ *registration, isNew bool, _ error) {
	err := r.makeFolder(ctx, i.Service)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.calls[c] {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return r.keepLocked(i)
}

// makeFolder makes the folder of a service, as kratos's own registry does. The
// server would delete a container with its last instance, and those of kratos's own
// do not come back then. In an outage it waits until ctx ends.
func (r *Registry) makeFolder(ctx context.Context, service string) error {
	folder, err := r.folder(service)
	if err != nil {
		return err
	}
	return r.insist(ctx, func() error { return r.tryFolder(ctx, folder) })
}

// insist tries something again after each outage, until ctx ends.
func (r *Registry) insist(ctx context.Context, try func() error) error {
	for {
		err := try()
		if !errors.Is(err, framework.ErrNotConnected) { //nolint:forbidigo // if ctx has ended, WaitConnected says so
			return err
		}
		if err := r.client.WaitConnected(ctx); err != nil {
			return err
		}
	}
}

func (r *Registry) tryFolder(ctx context.Context, folder string) error {
	there, _, err := r.client.Exists(ctx, folder)
	if there || err != nil {
		return err
	}
	_, err = r.client.Create(ctx, folder, nil, framework.WithPersistentParents(), framework.WithIdempotence())
	if code, _ := framework.ServerCode(err); code == nodeExists {
		return nil
	}
	return err
}

const nodeExists = -110 // see framework.ServerCode

// keepLocked returns the registration of an instance. It is new unless there is one
// that goes on.
func (r *Registry) keepLocked(i discovery.Instance) (_ *registration, isNew bool, _ error) {
	k := key{i.Service, i.ID}
	if was := r.registered[k]; was != nil && !was.leaves && was.Err() == nil {
		return was, false, nil
	}
	begun, err := discovery.NewRegistration(r.client, r.root, theirs, i, r.registration...)
	if err != nil {
		return nil, false, err
	}
	r.registered[k] = &registration{Registration: begun}
	return r.registered[k], true, nil
}

// Deregister is for kratos, which calls it when an app stops. It returns when the
// node is gone, for good. If ctx ends before, as in an outage, the error matches
// ctx.Err(), and the client goes on: it deletes the node when it can. What this
// Registry has not registered is left alone, and is no error.
func (r *Registry) Deregister(ctx context.Context, service *registry.ServiceInstance) error {
	if service == nil {
		return nil
	}
	k := key{service.Name, service.ID}
	registration := r.deregister(k)
	err := ctx.Err()
	if registration != nil {
		err = r.drop(ctx, k, registration)
	}
	if err != nil {
		return fmt.Errorf("deregister from ZooKeeper: %w", err)
	}
	return nil
}

// deregister ends each Register of a key, whatever it waits for. It begins the end
// of the registration, and returns it, or nil if there is none.
func (r *Registry) deregister(k key) *registration {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.calls {
		if c.key == k {
			c.cancel()
			delete(r.calls, c)
		}
	}
	registration := r.registered[k]
	if registration != nil {
		registration.leaveLocked()
	}
	return registration
}

// becomes says what becomes of a registration whose Register has failed. Its end
// begins if that Register has begun it.
func (r *Registry) becomes(registration *registration, begun bool, c *call) (deregistered, leaves bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if begun {
		registration.leaveLocked()
	}
	return !r.calls[c], registration.leaves
}

// leaveLocked begins the end of a registration. The mutex is held, because the next
// one of the instance is refused before that.
func (r *registration) leaveLocked() {
	r.leaves = true
	_ = r.Shutdown(ended)
}

// drop ends a registration, and forgets it when its node is gone: until then,
// Deregister can be called again, to wait for that.
func (r *Registry) drop(ctx context.Context, k key, registration *registration) error {
	if err := registration.Shutdown(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.registered[k] == registration {
		delete(r.registered, k)
	}
	return nil
}
