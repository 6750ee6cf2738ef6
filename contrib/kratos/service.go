package kratos

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-kratos/kratos/v2/registry"

	"github.com/gocurator/curator/recipes/discovery"
)

// service is the directory that all watchers of a service share. The mutex of the
// Registry protects it.
type service struct {
	name      string
	directory *discovery.Directory
	users     int
}

// acquire returns a service, which other watchers may use, too.
func (r *Registry) acquire(name string) (*service, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.services[name]
	if s == nil || s.directory.Err() != nil { // the client is closed; open will return the error
		d, err := r.open(name)
		if err != nil {
			return nil, err
		}
		s = &service{name: name, directory: d}
		r.services[name] = s
	}
	s.users++
	return s, nil
}

// hold is acquire for a service in use. It returns false if the service is no longer
// used.
func (r *Registry) hold(s *service) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.users == 0 {
		return false
	}
	s.users++
	return true
}

// release gives a service back. The last user closes the directory.
func (r *Registry) release(s *service) {
	r.mu.Lock()
	s.users--
	isLast := s.users == 0
	if isLast && r.services[s.name] == s {
		delete(r.services, s.name)
	}
	r.mu.Unlock()
	if isLast {
		s.directory.Close()
	}
}

func (r *Registry) open(name string) (*discovery.Directory, error) {
	if err := r.unusable(); err != nil {
		return nil, err
	}
	return discovery.NewDirectory(r.client, r.root, theirs, name, r.directory...)
}

// await waits for a list for which isNews returns true, and returns that list. If ctx
// has ended, the error matches ctx.Err(), in addition to any other error.
func (s *service) await(ctx context.Context, isNews func([]*discovery.Entry) bool) ([]*discovery.Entry, error) {
	entries, err := s.news(ctx, isNews)
	return entries, alsoEnded(ctx, err)
}

// alsoEnded returns err and, if ctx has ended, adds its error.
func alsoEnded(ctx context.Context, err error) error {
	over := ctx.Err()
	if err != nil && over != nil && !errors.Is(err, over) { //nolint:forbidigo // the error is for the caller
		return fmt.Errorf("%w (%w)", over, err)
	}
	return err
}

// news is await, but returns the first error of any kind. Before the first fill, the
// directory has no list; during an outage, it keeps its list.
func (s *service) news(ctx context.Context, isNews func([]*discovery.Entry) bool) ([]*discovery.Entry, error) {
	d := s.directory
	var last *discovery.Snapshot
	for change, err := range d.Changes(ctx) {
		now := change.Now
		switch {
		case err != nil:
			return nil, err
		case !now.Filled && now.Err != nil:
			return nil, now.Err
		case now != last && isNews(now.Entries):
			return now.Entries, nil
		}
		last = now
	}
	return nil, cmp.Or(d.WaitSynced(ctx), ctx.Err()) // WaitSynced's error says why there is no list
}

// instancesOf returns instances as they were registered. Each caller gets a copy,
// because kratos sorts the lists inside.
func instancesOf(entries []*discovery.Entry) []*registry.ServiceInstance {
	list := make([]*registry.ServiceInstance, 0, len(entries))
	for _, e := range entries {
		if i, err := parse(e.Payload); err == nil { // Decode has parsed the payload before
			list = append(list, i)
		}
	}
	return list
}
