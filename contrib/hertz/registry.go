package hertz

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
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
// Register to Deregister, whatever happens to connections and sessions: see
// discovery.Registrar. It is safe for concurrent use, and has nothing to close:
// closing the client ends its registrations. The zero Registry cannot be used, and
// its calls are errors: NewRegistry makes one.
type Registry struct {
	registrar *discovery.Registrar
	localIP   func() string // utils.LocalIP, except in tests
}

var _ registry.Registry = (*Registry)(nil)

// errNotMade is the error of the zero Registry.
var errNotMade error = &framework.ConfigError{Name: "Registry", Value: "zero", Reason: "must be made by NewRegistry"}

// NewRegistry returns a Registry below the root of a client. For another base,
// take client.Namespace. The options are for each registration.
func NewRegistry(client *framework.Client, opts ...discovery.RegistrationOption) *Registry {
	return &Registry{discovery.NewRegistrar(client, base, theirs, opts...), utils.LocalIP}
}

// Register registers an instance, and returns when its node is there. If it is
// not there within a minute, such as in an outage, or because another process's
// node has the address, the error says why, and nothing goes on: hertz ends the
// server then. A refusal is an error at once. The node of an earlier process at
// the address is waited for, and not replaced; see discovery.WithConflictPolicy. If
// Deregister comes first, Register returns nil: hertz has stopped listening for errors.
//
// An instance that is registered gets another weight and other tags, in place.
// An Addr without a host, or with an unspecified address, stands for this
// machine's address, as utils.LocalIP returns it.
func (r *Registry) Register(info *registry.Info) error {
	ctx, cancel := context.WithTimeout(context.Background(), registerTime)
	defer cancel()
	i, err := r.instanceOf(info)
	if err == nil {
		err = r.registrar.Register(ctx, i)
	}
	if err != nil {
		return fmt.Errorf("zookeeper: register: %w", err)
	}
	return nil
}

// Deregister deletes the node of an instance, and returns when it is gone. The
// instance does not come back. One that is not registered is no error.
//
// In an outage, Deregister returns nil after two seconds, because hertz would
// give its shutdown up otherwise. The client then deletes the node as soon as
// there is a connection, or the end of its session does.
func (r *Registry) Deregister(info *registry.Info) error {
	ctx, cancel := context.WithTimeout(context.Background(), deregisterTime)
	defer cancel()
	i, err := r.instanceOf(info)
	if err == nil {
		err = r.registrar.Deregister(ctx, i.Service, i.ID)
	}
	if err != nil {
		return fmt.Errorf("zookeeper: deregister: %w", err)
	}
	return nil
}

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
