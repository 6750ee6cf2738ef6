package kratos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-kratos/kratos/v2/registry"
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// GetService returns the instances of a service. If there was never such a service, the
// error matches zk.ErrNoNode. If the service is watched and has instances, GetService
// makes no request and works during an outage. Otherwise GetService waits for a
// connection until ctx ends.
func (r *Registry) GetService(ctx context.Context, name string) ([]*registry.ServiceInstance, error) {
	entries, err := r.entriesOf(ctx, name)
	if err == nil && len(entries) == 0 {
		err = r.checkFolder(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("service %q in ZooKeeper: %w", name, err)
	}
	return instancesOf(entries), nil
}

func (r *Registry) entriesOf(ctx context.Context, name string) ([]*discovery.Entry, error) {
	s, err := r.acquire(name)
	if err != nil {
		return nil, alsoEnded(ctx, err)
	}
	defer r.release(s)
	return s.await(ctx, func([]*discovery.Entry) bool { return true })
}

// checkFolder returns zk.ErrNoNode if there was never an instance of a service.
func (r *Registry) checkFolder(ctx context.Context, name string) error {
	folder, err := r.folder(name)
	if err != nil {
		return err
	}
	for {
		there, _, err := r.client.Exists(ctx, folder)
		if err == nil && !there {
			err = zk.ErrNoNode
		}
		if !errors.Is(err, framework.ErrNotConnected) { //nolint:forbidigo // WaitConnected returns the error of ctx
			return err
		}
		if err := r.client.WaitConnected(ctx); err != nil {
			return err
		}
	}
}

// Watch is for kratos's clients. The Watcher works until Stop is called or ctx ends.
// The first call of Next returns the current instances, even if there are none; each
// further call waits until the list differs. Next waits during an outage. If the
// servers refuse the first read, Next returns the refusal and may be called again: the
// service is re-read after pauses of up to half a minute. A refusal after the first
// list changes nothing. After the end, the error matches ctx.Err() or context.Canceled.
//
// Watch contacts no server. Its error means that the name cannot be used, or that
// the client is closed.
func (r *Registry) Watch(ctx context.Context, name string) (registry.Watcher, error) {
	s, err := r.acquire(name)
	if err != nil {
		return nil, fmt.Errorf("watch %q in ZooKeeper: %w", name, err)
	}
	w := &watcher{registry: r, service: s, release: sync.OnceFunc(func() { r.release(s) })}
	w.ctx, w.cancel = context.WithCancel(ctx)
	context.AfterFunc(w.ctx, w.release)
	return w, nil
}

// watcher is one client's view of a service.
type watcher struct {
	registry *Registry
	service  *service
	ctx      context.Context
	cancel   context.CancelFunc
	release  func() // gives the service back; only the first call has an effect

	mu   sync.Mutex         // protects the following field
	told []*discovery.Entry // nil if Next has not returned yet
}

// Next waits for the next list: see Watch.
func (w *watcher) Next() ([]*registry.ServiceInstance, error) {
	entries, err := w.next()
	switch {
	case err == nil:
		return instancesOf(entries), nil
	case errors.Is(err, framework.ErrClosed): //nolint:forbidigo // after the end of its context, Next ends in any case
		err = fmt.Errorf("%w (%w)", err, context.Canceled) // kratos's clients end only with this error
	}
	return nil, fmt.Errorf("watch %q in ZooKeeper: %w", w.service.name, err)
}

func (w *watcher) next() ([]*discovery.Entry, error) {
	if !w.registry.hold(w.service) {
		return nil, w.ctx.Err()
	}
	defer w.registry.release(w.service)
	return w.service.await(w.ctx, w.isNews)
}

// isNews records a list, and reports whether it differs from the last one. Both lists
// are ordered.
func (w *watcher) isNews(now []*discovery.Entry) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told != nil && slices.EqualFunc(w.told, now, saysTheSame) {
		return false
	}
	w.told = append([]*discovery.Entry{}, now...)
	return true
}

func saysTheSame(a, b *discovery.Entry) bool {
	return a.ID == b.ID && bytes.Equal(a.Payload, b.Payload)
}

// Stop ends the Watcher and a waiting Next. Stop may be called more than once.
func (w *watcher) Stop() error {
	w.cancel()
	w.release()
	return nil
}
