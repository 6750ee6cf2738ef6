package grpcresolver

import (
	"context"
	"fmt"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// key is equal for channels that share a service.
type key struct {
	client, base, service, codec string
	config                       bool
}

// service is shared by the channels of a service: it has the directory and, if wanted,
// the service config.
type service struct {
	key       key
	client    *framework.Client
	directory *discovery.Directory
	config    *configNode // nil without WithServiceConfig
	stop      context.CancelFunc
	followers sync.WaitGroup

	users int // the Builder's mutex protects it

	mu      sync.Mutex
	changed chan struct{} // closed by tell
}

// acquire returns the service of a target, which other channels may use, too.
func (b *Builder) acquire(t target, config bool) (*service, error) {
	k := key{t.client, t.base, t.service, t.codec, config}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.services[k]
	if s == nil || s.err() != nil { // the client of an ended service is closed; open returns the error
		var err error
		if s, err = b.open(k); err != nil {
			return nil, err
		}
		b.services[k] = s
	}
	s.users++
	return s, nil
}

// release gives a service back. The last user closes the service.
func (b *Builder) release(s *service) {
	b.mu.Lock()
	s.users--
	isLast := s.users == 0
	if isLast && b.services[s.key] == s {
		delete(b.services, s.key)
	}
	b.mu.Unlock()
	if isLast {
		s.close()
	}
}

// open begins to follow a service, without waiting.
func (b *Builder) open(k key) (*service, error) {
	if b.fault != nil {
		return nil, b.fault
	}
	client, known := b.clients[k.client]
	if !known {
		return nil, fmt.Errorf("no client %q: the host part of a target is a name from WithClient, not a server", k.client)
	}
	codec, known := b.codecs[k.codec]
	if !known {
		return nil, fmt.Errorf("no codec %q", k.codec)
	}
	s := &service{key: k, client: client, changed: make(chan struct{})}
	var err error
	if s.directory, err = discovery.NewDirectory(client, k.base, codec, k.service, b.directory...); err != nil {
		return nil, err
	}
	if k.config {
		if s.config, err = openConfig(client, s.directory.Path()); err != nil {
			s.directory.Close()
			return nil, err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	states := client.States(ctx)
	s.followers.Go(func() {
		for range states {
			s.tell()
		}
	})
	s.followers.Go(func() { s.follow(ctx) })
	if s.config != nil {
		s.followers.Go(func() { s.followConfig(ctx) })
	}
	return s, nil
}

// err returns the reason why the service is no longer followed, or nil.
func (s *service) err() error {
	if err := s.directory.Err(); err != nil || s.config == nil {
		return err
	}
	return s.config.cache.Err()
}

func (s *service) close() {
	s.stop()
	s.followers.Wait()
	s.directory.Close()
	if s.config != nil {
		s.config.cache.Close()
	}
}

// follow wakes the channels when the directory has changed or has ended. No event tells why
// there is no connection, so each channel checks periodically during an outage.
func (s *service) follow(ctx context.Context) {
	var last *discovery.Snapshot
	for change := range s.directory.Changes(ctx) {
		if change.Now != last {
			last = change.Now
			s.tell()
		}
	}
	s.tell()
}

func (s *service) followConfig(ctx context.Context) {
	for _, err := range s.config.cache.Steps(ctx) {
		if err == nil {
			s.config.filled.Store(true)
		}
		s.tell()
	}
}

// tell wakes the channels.
func (s *service) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// next returns a channel that is closed at the next change.
func (s *service) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// list returns the directory's snapshot, and false before the directory was filled.
func (s *service) list() (*discovery.Snapshot, bool) {
	now := s.directory.Snapshot()
	return now, now.Filled && s.hasConfig()
}

// hasConfig reports whether the service config is known or not wanted.
func (s *service) hasConfig() bool {
	return s.config == nil || s.config.filled.Load()
}
