package zookeeper

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
	directory *discovery.Directory // nil if there was none yet
	users     int
}

// acquire returns a service, which others may use, too.
func (r *Registry) acquire(name string) *service {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.services[name]
	if s == nil {
		s = &service{name: name}
		r.services[name] = s
	}
	s.users++
	return s
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
	if isLast {
		delete(r.services, s.name)
	}
	r.mu.Unlock()
	if isLast && s.directory != nil {
		s.directory.Close()
	}
}

// directoryOf returns the directory of a service. If a server has refused the last
// one, it is another one: no event tells that the refusal is over, and kratos calls
// Next again after an error.
func (r *Registry) directoryOf(s *service) (*discovery.Directory, error) {
	now, was, err := r.renew(s)
	if was != nil {
		was.Close()
	}
	return now, err
}

// renew is directoryOf, and also returns the one that is to be closed, if there is
// one.
func (r *Registry) renew(s *service) (now, was *discovery.Directory, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.directory != nil && !isRefused(s.directory) {
		return s.directory, nil, nil
	}
	now, err = r.open(s.name)
	if err != nil {
		return nil, nil, err
	}
	was, s.directory = s.directory, now
	return now, was, nil
}

func (r *Registry) open(name string) (*discovery.Directory, error) {
	if r.fault != nil {
		return nil, r.fault
	}
	return discovery.NewDirectory(r.client, r.root, theirs, name, r.directory...)
}

// isRefused reports whether a directory has ended, or has no list because it may
// not read it.
func isRefused(d *discovery.Directory) bool {
	now := d.Snapshot()
	return d.Err() != nil || !now.Filled && now.Err != nil
}

// await waits until a list is news, and returns it. If ctx has ended, the error
// matches ctx.Err(), whatever else is wrong.
func (r *Registry) await(ctx context.Context, s *service, isNews func([]*discovery.Entry) bool) ([]*discovery.Entry, error) {
	entries, err := r.news(ctx, s, isNews)
	if over := ctx.Err(); err != nil && over != nil && !errors.Is(err, over) { //nolint:forbidigo // it is for the caller
		err = fmt.Errorf("%w (%w)", over, err)
	}
	return entries, err
}

// news is await, with whatever error comes first. A directory that was not filled
// has no list, and one in an outage keeps its own.
func (r *Registry) news(ctx context.Context, s *service, isNews func([]*discovery.Entry) bool) ([]*discovery.Entry, error) {
	d, err := r.directoryOf(s)
	if err != nil {
		return nil, err
	}
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
