package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// ErrClosed means that the Directory was closed.
var ErrClosed = errors.New("directory is closed")

// Directory knows the instances of a service, or of all services below a path.
// It needs no right but to read, and makes no node: a service that does not
// exist has no instances yet. It is safe for concurrent use, and must be closed.
// The zero Directory cannot be used: NewDirectory and NewServices make one.
//
// It has one watch at the server. Except for the removal grace, it is equal to the
// tree as of one transaction after the other, as a cache.Cache is. A node that cannot
// be decoded spoils nothing for the others. While the directory is interrupted, it
// keeps what it has, and Snapshot.Interrupted is true.
type Directory struct {
	codec  Codec
	base   string                          // the registry's
	root   string                          // the base, or the folder of the service
	place  func(path string) (place, bool) // tells whose a node is
	cfg    directoryConfig
	cache  *cache.Cache
	life   follow.Life
	events event.Source
	ended  func() // takes it out of the flight recorder

	mu      sync.Mutex // protects the following fields
	now     *Snapshot
	leaving map[place]time.Time // when entries end whose nodes are gone, unless the directory is interrupted; expireLocked removes them then
	timer   *time.Timer         // takes the first of them away; nil if there is none
}

// NewDirectory returns a directory of one service below the base of a registry,
// and begins to fill it. It does not wait for that; WaitSynced does.
//
// A closed client is framework.ErrClosed. What cannot be used is an error that
// matches zk.ErrInvalidPath or zk.ErrBadArguments, or the codec's.
func NewDirectory(
	client *framework.Client, base string, codec Codec, service string, opts ...DirectoryOption,
) (*Directory, error) {
	what := fmt.Sprintf("directory of %q", service)
	return newDirectory(client, base, codec, opts, what, func(d *Directory) (_ []cache.Option, err error) {
		d.root, err = dirOf(base, codec, service)
		d.place = func(p string) (place, bool) {
			parent, name := znode.Split(p)
			return place{service, name}, parent == d.root
		}
		return []cache.Option{cache.WithDepth(1)}, err
	})
}

// NewServices returns a directory of all services below the base of a registry. It
// keeps all that is below the base in memory.
//
// The root of an ensemble has other programs' nodes as well. There, the directory
// leaves out /zookeeper and what is deeper than the instances of a service without a
// slash in its name.
func NewServices(client *framework.Client, base string, codec Codec, opts ...DirectoryOption) (*Directory, error) {
	what := fmt.Sprintf("services below %q", base)
	return newDirectory(client, base, codec, opts, what, func(d *Directory) ([]cache.Option, error) {
		d.root = base
		d.place = func(p string) (place, bool) {
			parent, name := znode.Split(strings.TrimPrefix(p, strings.TrimSuffix(base, "/")))
			service, ok := serviceOf(codec, parent)
			return place{service, name}, ok
		}
		if client != nil && framework.Extend(client).FullPath(base) == "/" {
			return ofTheRoot(codec), nil
		}
		return nil, nil
	})
}

// ofTheRoot returns what a directory of all services reads at the root of an ensemble.
func ofTheRoot(codec Codec) []cache.Option {
	dir, _ := codec.Dir("any")
	depth := strings.Count(strings.TrimSuffix(dir, "/"), "/") + 1
	return []cache.Option{cache.WithDepth(depth), cache.WithFilter(func(p string) bool { return p != "/zookeeper" })}
}

// serviceOf returns whose nodes are below a path. A path that stands for a service,
// and is not the service's own, is no service's: two folders would be one service,
// and NewDirectory knows only one of them.
func serviceOf(codec Codec, dir string) (string, bool) {
	service, ok := codec.Service(dir)
	if !ok {
		return "", false
	}
	own, err := codec.Dir(service)
	return service, err == nil && own == dir
}

// newDirectory returns a directory of a part of the tree, which scope sets.
func newDirectory(
	client *framework.Client, base string, codec Codec, opts []DirectoryOption, what string,
	scope func(d *Directory) ([]cache.Option, error),
) (_ *Directory, err error) {
	d := &Directory{codec: codec, base: base, now: &Snapshot{Interrupted: true}, leaving: map[place]time.Time{}}
	d.cfg, err = directoryOf(opts)
	if codec == nil {
		err = invalid("codec", "nil", "must not be nil")
	}
	var scoped []cache.Option
	if err == nil {
		scoped, err = scope(d)
	}
	if err == nil {
		err = d.start(client, scoped...)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return d, nil
}

func (d *Directory) start(client *framework.Client, opts ...cache.Option) (err error) {
	if d.cache, err = cache.New(client, d.root, opts...); err != nil {
		return err
	}
	d.events = event.Of(client, d.root)
	d.life = follow.Life{Client: client, Closed: ErrClosed, Run: d.run, Finish: d.finish, GaveUp: d.gaveUp}
	d.ended = d.record(client)
	d.mu.Lock()
	d.tellLocked(d.now, false)
	d.mu.Unlock()
	if err := d.life.Start(); err != nil {
		d.finish(err)
		return err
	}
	return nil
}

// pathOf returns the path of an instance's node.
func (d *Directory) pathOf(i Instance) string {
	dir, err := dirOf(d.base, d.codec, i.Service)
	if err != nil {
		return d.root
	}
	return znode.Join(dir, i.ID)
}

// run applies one step of the cache after the other.
func (d *Directory) run(ctx context.Context) error {
	for step, err := range d.cache.Steps(ctx) {
		if err != nil {
			return err
		}
		d.apply(step, d.see(step))
	}
	return reason.OfContext(ctx)
}

func (d *Directory) finish(reason error) {
	d.stop()
	d.life.End(reason)
	d.cache.Close()
	d.ended()
}

func (d *Directory) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("directory of %q: %w", d.root, err)
}

// Close ends the directory and returns when nothing of it goes on. What it has
// can still be read, and is interrupted. It may be called more than once, and
// always returns nil.
func (d *Directory) Close() error {
	d.life.Close()
	return nil
}

// Done is closed when the directory has ended, for the reason that Err returns.
func (d *Directory) Done() <-chan struct{} { return d.life.Gone() }

// Err returns nil while the directory works. After that it is an error that
// matches ErrClosed or framework.ErrClosed, or an error of cache.Cache.Err.
func (d *Directory) Err() error { return d.named(d.life.Err()) }

// Path returns the node that the directory follows: the folder of the service, or
// the base of NewServices. It is the base, too, if that is the service's folder.
func (d *Directory) Path() string { return d.root }

// Snapshot returns what the directory has now. It costs nothing.
func (d *Directory) Snapshot() *Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// Instances returns those that want to be picked: see Snapshot.Instances.
func (d *Directory) Instances() []Instance { return d.Snapshot().Instances() }

// WaitSynced waits until the directory was filled for the first time. The error
// is ctx's, or Err's. If it is ctx's, it also says what the directory has waited
// for.
func (d *Directory) WaitSynced(ctx context.Context) error {
	return d.wait(ctx, func(s *Snapshot) bool { return s.Filled })
}

// WaitInstances waits until there are n instances that want to be picked. The
// error is as WaitSynced's.
func (d *Directory) WaitInstances(ctx context.Context, n int) error {
	return d.wait(ctx, func(s *Snapshot) bool { return s.Filled && len(s.Instances()) >= n })
}

// WaitFor waits until the directory is as new as a transaction: see
// cache.Cache.WaitFor. A program that has registered an instance, here or
// elsewhere, then finds it.
func (d *Directory) WaitFor(ctx context.Context, zxid int64) error {
	if err := d.cache.WaitFor(ctx, zxid); err != nil {
		return d.named(cmp.Or(d.life.Err(), err))
	}
	return d.wait(ctx, func(s *Snapshot) bool { return s.Filled && s.Zxid >= zxid })
}

func (d *Directory) wait(ctx context.Context, holds func(*Snapshot) bool) error {
	return d.named(d.life.Wait(ctx, func() bool { return holds(d.Snapshot()) }))
}

// gaveUp is the error of a call whose context has ended.
func (d *Directory) gaveUp(ctx context.Context) error {
	// The context has ended: the cache says why it is not filled, if so.
	err := cmp.Or(d.cache.WaitSynced(ctx), reason.OfContext(ctx))
	if refusal := d.Snapshot().Err; refusal != nil {
		return fmt.Errorf("%w (%w)", err, refusal)
	}
	return err
}

// DirectoryOption configures a Directory.
type DirectoryOption func(*directoryConfig)

type directoryConfig struct{ grace time.Duration }

// WithRemovalGrace sets for how long an instance stays whose node is gone. The
// default is a second, and 0 means that it goes at once, or at the end of an
// interruption of the directory.
//
// If the node comes back meanwhile, with the same ID, address and ports, nothing
// has happened. Java Curator's registrants delete and create their nodes each
// time that a connection was interrupted, which would empty the directory of all
// its readers for a moment. An instance that was seen to drain, or whose node
// became one that cannot be decoded, goes as with 0. After an interruption of the
// directory, the time begins again: registrants need a moment as well.
func WithRemovalGrace(d time.Duration) DirectoryOption {
	return func(c *directoryConfig) { c.grace = d }
}

func directoryOf(opts []DirectoryOption) (directoryConfig, error) {
	c := directoryConfig{grace: time.Second}
	err := applyAll(&c, opts)
	if err == nil && c.grace < 0 {
		err = invalid("WithRemovalGrace", c.grace, "must not be negative")
	}
	return c, err
}

// Changes returns what is in the directory, as Added and then Synced, or as Added
// and then Interrupted if it may be old. Then it returns every change, until ctx
// ends or the directory does. It waits until the directory is filled before it
// begins, and tells of a refusal that keeps it from that, as Interrupted. A refusal
// during an interruption is told as another one. The end of the directory is the
// last element: a Change that has nothing but Now, and the error that Err returns.
//
// Of what has happened together, it tells what was removed or updated before what
// was added. A node that is malformed is told once for each version of its data. A slow
// reader holds up nobody: several changes become one, and it misses no last
// state.
func (d *Directory) Changes(ctx context.Context) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		last := &Snapshot{Interrupted: true}
		next := func() (step [2]*Snapshot, news bool) {
			now := d.Snapshot()
			if now == last || !now.Filled && now.Err == nil {
				return step, false
			}
			step, last = [2]*Snapshot{last, now}, now
			return step, true
		}
		for step, err := range follow.Changes(ctx, &d.life, next, d.named) {
			if err != nil {
				yield(Change{Now: d.Snapshot().next()}, err) // another one, for those who compare
				return
			}
			for ch := range between(step[0], step[1]) {
				if ctx.Err() != nil || !yield(ch, nil) {
					return
				}
			}
		}
	}
}
