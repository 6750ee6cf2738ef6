package kratos

import (
	"context"
	"fmt"

	"github.com/go-kratos/kratos/v2/registry"
)

// Register is for kratos, which calls it when an app starts. It returns when the
// node is there, and keeps it there until Deregister: see discovery.Registrar. If ctx
// ends before, nothing stays registered, and the error says what it has waited for,
// such as a *discovery.ConflictError. If Deregister comes before, it returns nil.
//
// An instance that is registered already gets what is new in place. If ctx ends
// before, it gets that later. Others see it at once, except kratos's own registry,
// which looks when another instance comes or goes.
func (r *Registry) Register(ctx context.Context, service *registry.ServiceInstance) error {
	i, err := instanceOf(service)
	if err == nil {
		err = r.unusable()
	}
	if err == nil {
		err = r.registrar.Register(ctx, i)
	}
	if err != nil {
		return fmt.Errorf("register in ZooKeeper: %w", err)
	}
	return nil
}

// Deregister is for kratos, which calls it when an app stops. It returns when the
// node is gone, for good. What this Registry has not registered is left alone, and is
// no error.
//
// In an outage, Deregister returns nil when the time of ctx is over, which is
// kratos.RegistrarTimeout: after an error, kratos would not stop the app. The client
// then deletes the node as soon as there is a connection, or the end of its session
// does.
func (r *Registry) Deregister(ctx context.Context, service *registry.ServiceInstance) error {
	if service == nil || r.registrar == nil {
		return nil
	}
	if err := r.registrar.Deregister(ctx, service.Name, service.ID); err != nil {
		return fmt.Errorf("deregister from ZooKeeper: %w", err)
	}
	return nil
}
