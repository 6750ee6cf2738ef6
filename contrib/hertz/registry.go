package hertz

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/hertz/pkg/app/server/registry"
	"github.com/cloudwego/hertz/pkg/common/utils"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// hertz gives neither call a context.
const (
	registerTime   = time.Minute     // longer than the session timeouts that are in use
	deregisterTime = 2 * time.Second // hertz takes it from the 5 s of its shutdown
)

// Registry is a registry.Registry of hertz. It keeps an instance registered from
// Register to Deregister, whatever happens to connections and sessions. It is
// safe for concurrent use, and has nothing to close: closing the client ends its
// registrations.
type Registry struct {
	client *framework.Client
	opts   []discovery.RegistrationOption

	mu         sync.Mutex                         // protects the following field
	registered map[string]*discovery.Registration // the keys are paths of nodes
}

var _ registry.Registry = (*Registry)(nil)

// NewRegistry returns a Registry below the root of a client. For another base,
// take client.Namespace. The options are for each registration.
func NewRegistry(client *framework.Client, opts ...discovery.RegistrationOption) *Registry {
	return &Registry{client: client, opts: opts, registered: map[string]*discovery.Registration{}}
}

// Register registers an instance, and returns when its node is there. If it is
// not there within a minute, such as in an outage, or because somebody else's
// node has the address, the error says why, and nothing goes on: hertz ends the
// server then. A refusal is an error at once. The node of an earlier process at
// the address is waited for, and not replaced; see discovery.WithConflictPolicy.
//
// An instance that is registered gets another weight and other tags, in place.
// An Addr without a host, or with an unspecified address, stands for this
// machine's address, as utils.LocalIP returns it.
func (r *Registry) Register(info *registry.Info) error {
	if err := r.register(info); err != nil {
		return fmt.Errorf("zookeeper: register: %w", err)
	}
	return nil
}

func (r *Registry) register(info *registry.Info) error {
	i, err := instanceOf(info)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), registerTime)
	defer cancel()
	reg, isNew, err := r.open(i)
	switch {
	case err != nil:
		return err
	case !isNew:
		return reg.Update(ctx, i)
	}
	if _, err = reg.WaitRegistered(ctx); err != nil {
		r.forget(i, reg)
		cancel() // the node, if it came at last, is deleted in the background
		_ = reg.Shutdown(ctx)
	}
	return err
}

// open returns the registration of an instance, and whether it is a new one.
func (r *Registry) open(i discovery.Instance) (reg *discovery.Registration, isNew bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if reg = r.registered[keyOf(i)]; reg != nil && reg.Err() == nil {
		return reg, false, nil
	}
	reg, err = discovery.NewRegistration(r.client, base, discovery.CloudWeGoCodec(), i, r.opts...)
	if err == nil {
		r.registered[keyOf(i)] = reg
	}
	return reg, true, err
}

// forget takes a registration out, unless another one has its place.
func (r *Registry) forget(i discovery.Instance, reg *discovery.Registration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.registered[keyOf(i)] == reg {
		delete(r.registered, keyOf(i))
	}
}

// Deregister deletes the node of an instance, and returns when it is gone. The
// instance does not come back. One that is not registered is no error.
//
// In an outage, Deregister returns nil after two seconds, because hertz would
// give its shutdown up otherwise. The client then deletes the node as soon as
// there is a connection, or the end of its session does.
func (r *Registry) Deregister(info *registry.Info) error {
	i, err := instanceOf(info)
	if err == nil {
		err = r.deregister(i)
	}
	if err != nil {
		return fmt.Errorf("zookeeper: deregister: %w", err)
	}
	return nil
}

func (r *Registry) deregister(i discovery.Instance) error {
	r.mu.Lock()
	reg := r.registered[keyOf(i)]
	delete(r.registered, keyOf(i))
	r.mu.Unlock()
	if reg == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), deregisterTime)
	defer cancel()
	if err := reg.Shutdown(ctx); ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	return nil
}

// keyOf returns what no two instances of a Registry share.
func keyOf(i discovery.Instance) string { return i.Service + "/" + i.ID }

// instanceOf returns the instance that hertz describes.
func instanceOf(info *registry.Info) (i discovery.Instance, err error) {
	if info == nil || info.Addr == nil {
		return i, errors.New("the info has no address")
	}
	host, text, err := net.SplitHostPort(info.Addr.String())
	if err != nil {
		return i, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return i, fmt.Errorf("address %q: no port", info.Addr)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = utils.LocalIP()
		if host == utils.UNKNOWN_IP_ADDR {
			return i, fmt.Errorf("address %q: this machine has no address that others know", info.Addr)
		}
	}
	return discovery.Instance{
		Service:  strings.TrimPrefix(info.ServiceName, "/"),
		ID:       net.JoinHostPort(host, text),
		Address:  host,
		Port:     port,
		Metadata: info.Tags,
		Payload:  fmt.Appendf(nil, `{"Weight":%d}`, info.Weight),
	}, nil
}
