package hertz

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sd "github.com/cloudwego/hertz/pkg/app/client/discovery"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

const (
	base = "/"

	firstListTime = 5 * time.Second  // how long the first call to a service waits for its list
	idleTime      = 30 * time.Minute // how long an unused directory is kept
	emptyTime     = time.Minute      // the same for a service without instances: requests can name any service

	maxWeight = 1_000_000 // hertz adds them all up in an int
)

// Resolver finds the instances of services for clients of hertz, through sd.Discovery.
// All calls to one service share a directory, which follows the service. A Resolver is
// safe for concurrent use. Closing the Resolver or the client ends the directories.
//
// Share one Resolver among all clients of a process: hertz keeps every Resolver, with
// two goroutines, until the process ends.
type Resolver struct {
	client *framework.Client
	opts   []discovery.DirectoryOption

	mu       sync.Mutex // protects the following fields and the times in services
	services map[string]*service
	closed   bool
}

var _ sd.Resolver = (*Resolver)(nil)

// service is a service that hertz has asked for.
type service struct {
	directory    *discovery.Directory
	used         time.Time
	hadInstances atomic.Bool
}

// NewResolver returns a Resolver of the services below the root of a client. For
// another base, pass client.Namespace. The options apply to each directory.
func NewResolver(client *framework.Client, opts ...discovery.DirectoryOption) *Resolver {
	return &Resolver{client: client, opts: slices.Clone(opts), services: map[string]*service{}}
}

// Name is for hertz, and unique among the Resolvers of a process: if several Resolvers
// had the same name, hertz would use the first one for all clients.
func (r *Resolver) Name() string { return fmt.Sprintf("zookeeper-%p", r) }

// Target is for hertz: the service of a request is its host.
func (r *Resolver) Target(_ context.Context, target *sd.TargetInfo) string { return target.Host }

// Resolve returns the instances of a service. Resolve waits only for the first list,
// until ctx ends, and for at most five seconds. The error names the reason why there is
// no list, such as an outage.
//
// During an outage, Resolve returns the last known list. If the service never had an
// instance, the error matches discovery.ErrNoInstance, and hertz asks again with the
// next call. When the last instance has left, the list is empty, and hertz reports that
// there is no instance.
func (r *Resolver) Resolve(ctx context.Context, name string) (sd.Result, error) {
	s, err := r.service(name)
	var instances []sd.Instance
	if err == nil {
		instances, err = s.instances(ctx)
	}
	if err != nil {
		return sd.Result{}, fmt.Errorf("zookeeper: service %q: %w", name, err)
	}
	return sd.Result{CacheKey: name, Instances: instances}, nil
}

// Close ends the directories and waits for their end. Close may be called more than
// once, and always returns nil.
func (r *Resolver) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	for _, s := range r.services { // the map no longer changes, and a concurrent Close waits, too
		s.directory.Close()
	}
	return nil
}

// service returns a service, which other calls may use, too.
func (r *Resolver) service(name string) (*service, error) {
	s, idle, err := r.find(name, time.Now())
	for _, other := range idle {
		other.directory.Close()
	}
	return s, err
}

// find returns a service, and the services that were not used for a long time.
func (r *Resolver) find(name string, now time.Time) (s *service, idle []*service, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, discovery.ErrClosed
	}
	s = r.services[name]
	if s == nil || s.directory.Err() != nil {
		idle = r.takeIdleLocked(now)
		if s != nil { // the directory has ended, usually with the client; a new one will end, too
			idle = append(idle, s)
			delete(r.services, name)
		}
		d, err := discovery.NewDirectory(r.client, base, theirs, name, r.opts...)
		if err != nil {
			return nil, idle, err
		}
		s = &service{directory: d}
		r.services[name] = s
	}
	s.used = now
	return s, idle, nil
}

func (r *Resolver) takeIdleLocked(now time.Time) (idle []*service) {
	for name, s := range r.services {
		kept := emptyTime
		if s.hadInstances.Load() {
			kept = idleTime
		}
		if now.Sub(s.used) >= kept {
			idle = append(idle, s)
			delete(r.services, name)
		}
	}
	return idle
}

// instances returns the instances in hertz's form.
func (s *service) instances(ctx context.Context) (all []sd.Instance, err error) {
	ctx, cancel := context.WithTimeout(ctx, firstListTime)
	defer cancel()
	now, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range now.Instances() {
		all = append(all, toldOf(i))
	}
	switch {
	case len(all) > 0:
		s.hadInstances.Store(true)
	case !s.hadInstances.Load():
		return nil, noneIn(now)
	}
	return all, nil
}

// list waits until the directory is filled, or a server refuses to fill it.
func (s *service) list(ctx context.Context) (*discovery.Snapshot, error) {
	if now := s.directory.Snapshot(); now.Filled {
		return now, nil
	}
	for change, err := range s.directory.Changes(ctx) {
		now := change.Now
		switch {
		case err != nil:
			return nil, err
		case now.Filled:
			return now, nil
		case now.Err != nil:
			return nil, now.Err
		}
	}
	err := s.directory.WaitSynced(ctx) // the error names what the directory has waited for
	return s.directory.Snapshot(), err
}

// toldOf returns an instance in hertz's form.
func toldOf(i discovery.Instance) sd.Instance {
	return sd.NewInstance("tcp", i.HostPort(), weightOf(i), i.Metadata)
}

// noneIn returns the reason why there is no instance.
func noneIn(now *discovery.Snapshot) error {
	if len(now.Bad) == 0 {
		return fmt.Errorf("%w: none is registered", discovery.ErrNoInstance)
	}
	bad := now.Bad[0]
	return fmt.Errorf("%w: %d malformed, such as %q: %w", discovery.ErrNoInstance, len(now.Bad), bad.Path, bad.Err)
}
