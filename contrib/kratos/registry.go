package kratos

import (
	"path"
	"slices"
	"sync"

	"github.com/go-kratos/kratos/v2/registry"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// Registry is a registry.Registrar and a registry.Discovery. One serves all apps
// and clients of a process. It is safe for concurrent use, and need not be closed.
// The zero Registry cannot be used, and its calls are errors: New makes one.
type Registry struct {
	client       *framework.Client
	root         string
	registration []discovery.RegistrationOption
	directory    []discovery.DirectoryOption
	registrar    *discovery.Registrar // nil if New was not called, or not rightly
	fault        error                // what New was given that cannot be used; or nil

	mu       sync.Mutex          // protects the following field
	services map[string]*service // those that are watched, by their names
}

var (
	_ registry.Registrar = (*Registry)(nil)
	_ registry.Discovery = (*Registry)(nil)
)

// Option configures a Registry.
type Option func(*Registry)

// WithRootPath sets the path below which the services are. The default is
// /microservices.
func WithRootPath(root string) Option { return func(r *Registry) { r.root = root } }

// WithRegistrationOptions sets the options of each registration, in place of those
// that were set before. One option is what to do about another process's node with
// the ID: Register waits until it is gone, unless discovery.WithConflictPolicy says
// nodes.Fail or nodes.Replace. kratos.ID can fix the ID of an app. If its process
// crashes, its node stays until the session has timed out, and the next process has
// to wait for that, or to replace it.
func WithRegistrationOptions(opts ...discovery.RegistrationOption) Option {
	return func(r *Registry) { r.registration = slices.Clone(opts) }
}

// WithDirectoryOptions sets the options of the directories behind GetService and
// Watch, and adds to those that were set before. Their removal grace is 0 by default,
// because an app of kratos stops right after it has deregistered.
func WithDirectoryOptions(opts ...discovery.DirectoryOption) Option {
	return func(r *Registry) { r.directory = append(r.directory, opts...) }
}

// New returns a Registry. It does not contact the server. What cannot be used, such
// as a nil client, is an error of each call.
func New(client *framework.Client, opts ...Option) *Registry {
	r := &Registry{
		client: client, root: "/microservices",
		directory: []discovery.DirectoryOption{discovery.WithRemovalGrace(0)},
		services:  map[string]*service{},
	}
	if client == nil {
		r.fault = invalid("client", "nil", "must not be nil")
	}
	for _, opt := range opts {
		if opt == nil {
			r.fault = invalid("option", "nil", "must not be nil")
			continue
		}
		opt(r)
	}
	if err := framework.ValidatePath(r.root); err != nil && r.fault == nil {
		r.fault = err
	}
	if r.fault == nil {
		// kratos's own registry makes no folder again, which a container would have to be.
		opts := append([]discovery.RegistrationOption{discovery.WithPersistentFolder()}, r.registration...)
		r.registrar = discovery.NewRegistrar(client, r.root, theirs, opts...)
	}
	return r
}

// unusable returns what cannot be used, or nil. The zero Registry has neither a
// client nor a fault.
func (r *Registry) unusable() error {
	if r.client == nil && r.fault == nil {
		return invalid("Registry", "zero", "must be made by New")
	}
	return r.fault
}

// folder returns the path of a service's nodes, or what cannot be used.
func (r *Registry) folder(service string) (string, error) {
	if err := r.unusable(); err != nil {
		return "", err
	}
	dir, err := theirs.Dir(service)
	return path.Join(r.root, dir), err
}
