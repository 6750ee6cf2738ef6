package zookeeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-kratos/kratos/v2/registry"
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// key is what a node is found by.
type key struct{ service, id string }

// registration is what Register has begun, until its node is gone.
type registration struct {
	*discovery.Registration
	leaves bool // it is about to end
}

// Register is for kratos, which calls it when an app starts. It returns when the
// node is there, and keeps it there until Deregister. If ctx ends before, nothing
// stays registered, and the error says what it has waited for, such as a
// *discovery.ConflictError. If Deregister comes before, it returns nil.
//
// An instance that is registered already gets what is new in place. Others see that
// at once. kratos's own registry does not look at it before another instance comes
// or goes.
func (r *Registry) Register(ctx context.Context, service *registry.ServiceInstance) error {
	i, err := instanceOf(service)
	if err == nil {
		err = r.register(ctx, i)
	}
	if err != nil {
		return fmt.Errorf("register in ZooKeeper: %w", err)
	}
	return nil
}

func (r *Registry) register(ctx context.Context, i discovery.Instance) error {
	if err := r.makeFolder(ctx, i.Service); err != nil {
		return err
	}
	registration, isNew, err := r.keep(i)
	if err != nil {
		return err
	}
	if !isNew {
		return registration.Update(ctx, i)
	}
	if _, err = registration.WaitRegistered(ctx); err == nil {
		return nil
	}
	if !r.leave(registration) {
		return nil // an app that is stopped while it starts is no failure
	}
	_ = r.drop(ctx, key{i.Service, i.ID}, registration) // it is gone, or ctx has ended, and the client goes on
	return err
}

// makeFolder makes the folder of a service, as kratos's own registry does. The
// server would delete a container with its last instance, and those of kratos's own
// do not come back then. In an outage it waits until ctx ends.
func (r *Registry) makeFolder(ctx context.Context, service string) error {
	folder, err := r.folder(service)
	if err != nil {
		return err
	}
	for {
		err := r.tryFolder(ctx, folder)
		if !errors.Is(err, framework.ErrNotConnected) {
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
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// keep returns the registration of an instance. It is new unless there is one that
// goes on.
func (r *Registry) keep(i discovery.Instance) (_ *registration, isNew bool, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
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
	r.mu.Lock()
	registration := r.registered[k]
	r.mu.Unlock()
	err := ctx.Err()
	if registration != nil {
		r.leave(registration)
		err = r.drop(ctx, k, registration)
	}
	if err != nil {
		return fmt.Errorf("deregister from ZooKeeper: %w", err)
	}
	return nil
}

// leave notes that a registration is about to end. It reports false if that is known.
func (r *Registry) leave(registration *registration) (isNew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	isNew = !registration.leaves
	registration.leaves = true
	return isNew
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
