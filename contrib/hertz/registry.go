package hertz

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
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
// registrations. The zero Registry cannot be used, and its calls are errors:
// NewRegistry makes one.
type Registry struct {
	client *framework.Client
	opts   []discovery.RegistrationOption

	localIP func() string // utils.LocalIP, but for tests

	mu         sync.Mutex               // protects the following field, and the fields of its values
	registered map[string]*registration // the keys are paths of nodes
}

// registration is what Register has begun.
type registration struct {
	*discovery.Registration
	deregistered bool // a Deregister has come
}

// ended is the context of a Shutdown that begins the end, and does not wait for it.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

var _ registry.Registry = (*Registry)(nil)

// errNotMade is the error of the zero Registry.
var errNotMade error = &framework.ConfigError{Name: "Registry", Value: "zero", Reason: "must be made by NewRegistry"}

// NewRegistry returns a Registry below the root of a client. For another base,
// take client.Namespace. The options are for each registration.
func NewRegistry(client *framework.Client, opts ...discovery.RegistrationOption) *Registry {
	return &Registry{client: client, opts: slices.Clone(opts), localIP: utils.LocalIP, registered: map[string]*registration{}}
}

// Register registers an instance, and returns when its node is there. If it is
// not there within a minute, such as in an outage, or because somebody else's
// node has the address, the error says why, and nothing goes on: hertz ends the
// server then. A refusal is an error at once. The node of an earlier process at
// the address is waited for, and not replaced; see discovery.WithConflictPolicy. If
// Deregister comes before, Register returns nil: nobody in hertz hears an error then.
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
	i, err := r.instanceOf(info)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), registerTime)
	defer cancel()
	reg, isNew, err := r.open(i)
	if err != nil {
		return err
	}
	if isNew {
		_, err = reg.WaitRegistered(ctx)
	} else {
		err = reg.Update(ctx, i)
	}
	if err == nil || r.wasDeregistered(i, reg, isNew) {
		return nil
	}
	return err
}

// open returns the registration of an instance, and whether it is a new one.
func (r *Registry) open(i discovery.Instance) (reg *registration, isNew bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if reg = r.registered[keyOf(i)]; reg != nil && reg.Err() == nil {
		return reg, false, nil
	}
	begun, err := discovery.NewRegistration(r.client, base, theirs, i, r.opts...)
	if err != nil {
		return nil, false, err
	}
	reg = &registration{Registration: begun}
	r.registered[keyOf(i)] = reg
	return reg, true, nil
}

// wasDeregistered reports whether a Deregister has made a Register fail. It ends the
// registration if that Register has begun it: the client deletes the node in the
// background, if it came at last.
func (r *Registry) wasDeregistered(i discovery.Instance, reg *registration, begun bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if begun {
		r.endLocked(i, reg)
	}
	return reg.deregistered
}

// endLocked takes a registration out, unless another one has its place, and begins
// its end. The mutex is held, because the next one of the instance is refused before
// that.
func (r *Registry) endLocked(i discovery.Instance, reg *registration) {
	if r.registered[keyOf(i)] == reg {
		delete(r.registered, keyOf(i))
	}
	_ = reg.Shutdown(ended)
}

// Deregister deletes the node of an instance, and returns when it is gone. The
// instance does not come back. One that is not registered is no error.
//
// In an outage, Deregister returns nil after two seconds, because hertz would
// give its shutdown up otherwise. The client then deletes the node as soon as
// there is a connection, or the end of its session does.
func (r *Registry) Deregister(info *registry.Info) error {
	i, err := r.instanceOf(info)
	if err == nil {
		err = r.deregister(i)
	}
	if err != nil {
		return fmt.Errorf("zookeeper: deregister: %w", err)
	}
	return nil
}

func (r *Registry) deregister(i discovery.Instance) error {
	reg := r.leave(i)
	if reg == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), deregisterTime)
	defer cancel()
	if err := reg.Shutdown(ctx); ctx.Err() == nil || !errors.Is(err, ctx.Err()) { //nolint:forbidigo // its context has no cause
		return err
	}
	return nil
}

// leave begins the end of a registration, and returns it, or nil if there is none.
func (r *Registry) leave(i discovery.Instance) *registration {
	r.mu.Lock()
	defer r.mu.Unlock()
	reg := r.registered[keyOf(i)]
	if reg != nil {
		reg.deregistered = true
		r.endLocked(i, reg)
	}
	return reg
}

// keyOf returns what no two instances of a Registry share.
func keyOf(i discovery.Instance) string { return i.Service + "/" + i.ID }

// instanceOf returns the instance that hertz describes.
func (r *Registry) instanceOf(info *registry.Info) (i discovery.Instance, err error) {
	if r.localIP == nil {
		return i, errNotMade
	}
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
		host = r.localIP()
		if host == utils.UNKNOWN_IP_ADDR {
			return i, fmt.Errorf("address %q: this machine has no address that others know", info.Addr)
		}
	}
	name := net.JoinHostPort(host, strconv.Itoa(port))
	return theirs.Decode(strings.TrimPrefix(info.ServiceName, "/"), name, dataOf(info))
}
