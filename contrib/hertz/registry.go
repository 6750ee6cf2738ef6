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

// hertz calls Register and Deregister without a context.
const (
	registerTime   = time.Minute     // longer than usual session timeouts
	deregisterTime = 2 * time.Second // counts toward hertz's 5 s for its shutdown
)

// Registry is a registry.Registry of hertz. A Registry keeps an instance registered
// from Register to Deregister, whatever happens to connections and sessions: see
// discovery.Registrar. It is safe for concurrent use, and need not be closed: closing
// the client ends its registrations. Use NewRegistry; the methods of the zero Registry
// return errors.
type Registry struct {
	registrar *discovery.Registrar
	localIP   func() string // utils.LocalIP, except in tests
}

var _ registry.Registry = (*Registry)(nil)

// errNotMade is the error of the zero Registry.
var errNotMade error = &framework.ConfigError{Name: "Registry", Value: "zero", Reason: "must be made by NewRegistry"}

// NewRegistry returns a Registry below the root of a client. For another base, pass
// client.Namespace. The options apply to each registration.
func NewRegistry(client *framework.Client, opts ...discovery.RegistrationOption) *Registry {
	return &Registry{discovery.NewRegistrar(client, base, theirs, opts...), utils.LocalIP}
}

// Register registers an instance, and returns when its node exists. If that takes more
// than a minute, because of an outage or of another process's node for the address,
// Register gives up and returns the reason: hertz then ends the server. After a refusal
// by the servers, Register returns an error at once. Register waits until the node of
// an earlier process at the address is gone, and does not replace that node; see
// discovery.WithConflictPolicy. If Deregister is called meanwhile, Register returns
// nil: hertz has stopped listening for errors.
//
// A second Register of an instance changes its weight and tags in place. An Addr
// without a host, or with an unspecified address, stands for this machine's address, as
// returned by utils.LocalIP.
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

// Deregister deletes the node of an instance, and returns when the node is gone for
// good. For an instance that is not registered, Deregister returns nil.
//
// During an outage, Deregister returns nil after two seconds, because hertz would
// otherwise abort its shutdown. The node is deleted later, by the client's next
// connection or by the end of the session.
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

// instanceOf returns the instance that a registry.Info of hertz describes.
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
			return i, fmt.Errorf("address %q: this machine has no address that other machines can dial", info.Addr)
		}
	}
	name := net.JoinHostPort(host, strconv.Itoa(port))
	return theirs.Decode(strings.TrimPrefix(info.ServiceName, "/"), name, dataOf(info))
}
