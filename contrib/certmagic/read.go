package certmagic

import (
	"context"
	"io/fs"
	"slices"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/go-zookeeper/zk"
)

// Load returns the value of a key. If the key has no value, even if it is the prefix of
// other keys, the error matches fs.ErrNotExist.
func (s *Storage) Load(ctx context.Context, key string) ([]byte, error) {
	data, _, err := s.read(withoutCause(ctx), partsOf(key))
	value, ok := valueOf(data)
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, failed(ctx, "load", key, err)
	}
	return value, nil
}

// Exists returns true if a key has a value or is the prefix of other keys. After an
// error, such as during an outage, Exists returns false.
func (s *Storage) Exists(ctx context.Context, key string) bool {
	p := s.pathOf(partsOf(key))
	if err := s.client.Sync(ctx, p); err != nil {
		return false
	}
	there, _, err := s.client.Exists(ctx, p)
	return there && err == nil
}

// Stat describes a key. IsTerminal means that the key has a value. Modified is when the value
// was last stored or, without a value, when the key became the prefix of other keys, by the
// servers' clock. If there is no such key, the error matches fs.ErrNotExist.
func (s *Storage) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	data, stat, err := s.read(withoutCause(ctx), partsOf(key))
	if err != nil {
		return certmagic.KeyInfo{}, failed(ctx, "stat", key, err)
	}
	value, terminal := valueOf(data)
	return certmagic.KeyInfo{
		Key:        key,
		Modified:   time.UnixMilli(stat.Mtime),
		Size:       int64(len(value)),
		IsTerminal: terminal,
	}, nil
}

// List returns the keys right below a key or, if recursive is true, all keys below it.
// The list is in byte order, except that each key comes before the keys below it. All
// keys are below "". If there is no such key, the error matches fs.ErrNotExist.
//
// List makes a request for each key whose children it lists. Keys that other processes
// store or delete meanwhile may be in the list or not.
func (s *Storage) List(ctx context.Context, prefix string, recursive bool) ([]string, error) {
	keys, err := s.listUpToDate(withoutCause(ctx), partsOf(prefix), recursive)
	if err != nil {
		return nil, failed(ctx, "list", prefix, err)
	}
	return keys, nil
}

func (s *Storage) listUpToDate(ctx context.Context, at parts, recursive bool) ([]string, error) {
	if err := s.client.Sync(ctx, s.pathOf(at)); err != nil {
		return nil, err
	}
	keys, err := s.list(ctx, at, recursive)
	return keys, missing(err)
}

func (s *Storage) list(ctx context.Context, at parts, recursive bool) (keys []string, err error) {
	names, _, err := s.client.Children(ctx, s.pathOf(at))
	if err != nil {
		return nil, err
	}
	var components []string
	for _, name := range names {
		if component, ok := unescape(name); ok {
			components = append(components, component)
		}
	}
	slices.Sort(components)
	for _, component := range components {
		keys = append(keys, at.below(component).String())
		if !recursive {
			continue
		}
		below, err := s.list(ctx, at.below(component), true)
		if err != nil && code(err) != noNode {
			return nil, err
		}
		keys = append(keys, below...)
	}
	return keys, nil
}

// read reads the node of a key. A server that lags behind must first catch up: a
// process that answers a challenge has to find the value that another process stored a
// moment ago.
func (s *Storage) read(ctx context.Context, at parts) ([]byte, *zk.Stat, error) {
	p := s.pathOf(at)
	if err := s.client.Sync(ctx, p); err != nil {
		return nil, nil, err
	}
	data, stat, err := s.client.Get(ctx, p)
	return data, stat, missing(err)
}

// missing turns the error of a missing node into certmagic's error.
func missing(err error) error {
	if code(err) == noNode {
		return fs.ErrNotExist
	}
	return err
}
