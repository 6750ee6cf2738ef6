package kratos

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-kratos/kratos/v2/registry"

	"github.com/gocurator/curator/recipes/discovery"
)

// service is what all watchers of a service share: its directory. The mutex of the
// Registry protects it.
type service struct {
	name      string
	directory *discovery.Directory
	users     int
}

// acquire returns a service, which others may use, too.
func (r *Registry) acquire(name string) (*service, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.services[name]
	if s == nil || s.directory.Err() != nil { // its client is closed, which open says
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

// hold is acquire for a service that others use. It reports false if nobody does
// any more.
func (r *Registry) hold(s *service) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.users == 0 {
		return false
	}
	s.users++
	return true
}

// release gives a service back. The last one to do so closes its directory.
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

// await waits until a list is news, and returns it. If ctx has ended, the error
// matches ctx.Err(), whatever else is wrong.
func (s *service) await(ctx context.Context, isNews func([]*discovery.Entry) bool) ([]*discovery.Entry, error) {
	entries, err := s.news(ctx, isNews)
	return entries, alsoEnded(ctx, err)
}

// alsoEnded returns an error that also says that ctx has ended, if it has.
func alsoEnded(ctx context.Context, err error) error {
	if over := ctx.Err(); err != nil && over != nil && !errors.Is(err, over) { //nolint:forbidigo // it is for the caller
		return fmt.Errorf("%w (%w)", over, err)
	}
	return err
}

// news is await, with whatever error comes first. A directory that was not filled
// has no list, and one in an outage keeps its own.
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
	return nil, cmp.Or(d.WaitSynced(ctx), ctx.Err()) // WaitSynced knows why there is no list
}

// instancesOf returns instances as they were registered. Each caller has its own:
// kratos sorts in them.
func instancesOf(entries []*discovery.Entry) []*registry.ServiceInstance {
	list := make([]*registry.ServiceInstance, 0, len(entries))
	for _, e := range entries {
		if i, err := parse(e.Payload); err == nil { // it was read before
			list = append(list, i)
		}
	}
	return list
}
