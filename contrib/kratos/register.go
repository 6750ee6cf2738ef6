package kratos

import (
	"context"
	"fmt"

	"github.com/go-kratos/kratos/v2/registry"
)

// Register is called by kratos when an app starts. Register returns when the node
// exists, and keeps the node until Deregister: see discovery.Registrar. If ctx ends
// first, nothing stays registered, and the error names what Register has waited for,
// such as a *discovery.ConflictError. If Deregister is called first, Register returns
// nil.
//
// A second Register updates the registered instance in place. If ctx ends first, the
// update happens later. Clients see the update at once, except clients of kratos's own
// registry, which re-reads only when an instance arrives or leaves.
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

// Deregister is called by kratos when an app stops. Deregister returns when the node is
// gone for good. For an instance that this Registry has not registered, Deregister does
// nothing and returns nil.
//
// During an outage, Deregister returns nil when ctx ends, after
// kratos.RegistrarTimeout: after an error, kratos would not stop the app. The node is
// deleted later, by the client's next connection or by the end of the session.
func (r *Registry) Deregister(ctx context.Context, service *registry.ServiceInstance) error {
	if service == nil || r.registrar == nil {
		return nil
	}
	if err := r.registrar.Deregister(ctx, service.Name, service.ID); err != nil {
		return fmt.Errorf("deregister from ZooKeeper: %w", err)
	}
	return nil
}
