package kratos

import (
	"path"
	"slices"
	"sync"

	"github.com/go-kratos/kratos/v2/registry"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// Registry is a registry.Registrar and a registry.Discovery. One Registry serves all
// apps and clients of a process. A Registry is safe for concurrent use, and need not be
// closed. Use New; the methods of the zero Registry return errors.
type Registry struct {
	client       *framework.Client
	root         string
	registration []discovery.RegistrationOption
	directory    []discovery.DirectoryOption
	registrar    *discovery.Registrar // nil if New was not called or an argument cannot be used
	fault        error                // the error of an argument of New that cannot be used; or nil

	mu       sync.Mutex          // protects the following field
	services map[string]*service // the watched services, by name
}

var (
	_ registry.Registrar = (*Registry)(nil)
	_ registry.Discovery = (*Registry)(nil)
)

// Option configures a Registry: its path ([WithRootPath]), its registrations
// ([WithRegistrationOptions]) and its directories ([WithDirectoryOptions]).
type Option func(*Registry)

// WithRootPath sets the path below which the services are. The default is
// /microservices.
func WithRootPath(root string) Option { return func(r *Registry) { r.root = root } }

// WithRegistrationOptions sets the options of each registration, and replaces earlier
// ones. discovery.WithConflictPolicy is one of these options: if another process's node
// has the same ID, Register waits until that node is gone, unless the policy is
// nodes.Fail or nodes.Replace. kratos.ID gives an app a fixed ID. If the process of
// such an app crashes, its node stays until the session times out, and the next process
// must wait for that or replace the node.
func WithRegistrationOptions(opts ...discovery.RegistrationOption) Option {
	return func(r *Registry) { r.registration = slices.Clone(opts) }
}

// WithDirectoryOptions adds options for the directories of GetService and Watch. The
// removal grace is 0 by default, because an app of kratos stops right after it has
// deregistered.
func WithDirectoryOptions(opts ...discovery.DirectoryOption) Option {
	return func(r *Registry) { r.directory = append(r.directory, opts...) }
}

// New returns a Registry, without contacting the server. If an argument cannot be used,
// such as a nil client, each method returns an error.
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
		// kratos's own registry never re-creates a folder, so the folder must not be a
		// container, which the servers delete.
		opts := append([]discovery.RegistrationOption{discovery.WithPersistentFolder()}, r.registration...)
		r.registrar = discovery.NewRegistrar(client, r.root, theirs, opts...)
	}
	return r
}

// unusable returns the error of a Registry that cannot be used, or nil. The zero
// Registry has neither a client nor a fault.
func (r *Registry) unusable() error {
	if r.client == nil && r.fault == nil {
		return invalid("Registry", "zero", "must be made by New")
	}
	return r.fault
}

// folder returns the path of a service's nodes, or an error if Registry or name cannot
// be used.
func (r *Registry) folder(service string) (string, error) {
	if err := r.unusable(); err != nil {
		return "", err
	}
	dir, err := theirs.Dir(service)
	return path.Join(r.root, dir), err
}
