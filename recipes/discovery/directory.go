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

// Directory has the instances of one service, or of all services below a path. A
// Directory creates no nodes, and needs only the permission to read: a service that
// does not exist has no instances yet. A Directory is safe for concurrent use, and must
// be closed. The zero Directory cannot be used; NewDirectory and NewServices make one.
//
// A Directory keeps one watch at the server. Except for the removal grace, it equals the
// tree as of one transaction, and moves on to later transactions, as a cache.Cache does.
// The directory reports a node that cannot be decoded, and keeps all other nodes. In Java,
// such a node fails the query of the whole service, or leaves the last good instance in
// place for ever. During an interruption the directory keeps its instances, and
// Snapshot.Interrupted is true.
type Directory struct {
	codec  Codec
	base   string                          // of the registry
	root   string                          // the base, or the folder of the service
	place  func(path string) (place, bool) // returns service and ID of a node's path
	cfg    directoryConfig
	cache  *cache.Cache
	life   follow.Life
	events event.Source

	mu      sync.Mutex // protects the following fields
	now     *Snapshot
	leaving map[place]time.Time // when to drop instances without a node; expireLocked removes them, unless interrupted
	timer   *time.Timer         // fires for the first of leaving; nil if leaving is empty
}

// NewDirectory returns a directory of one service below the base of a registry. The
// directory fills in the background; WaitSynced waits for that.
//
// The error matches framework.ErrClosed if the client is closed, zk.ErrInvalidPath or
// zk.ErrBadArguments for an invalid argument, or is an error of the codec.
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

// NewServices returns a directory of all services below the base of a registry. The
// directory keeps everything below the base in memory.
//
// If the base is the root of the ensemble, the nodes of other programs are below it,
// too. Then the directory leaves out /zookeeper, and all nodes that are deeper than the
// instances of a service without a slash in its name.
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

// serviceOf returns the service whose nodes are below a folder. It returns false if Dir
// returns another folder for the service: otherwise two folders would count as one service,
// and NewDirectory would read only one of the folders.
func serviceOf(codec Codec, dir string) (string, bool) {
	service, ok := codec.Service(dir)
	if !ok {
		return "", false
	}
	own, err := codec.Dir(service)
	return service, err == nil && own == dir
}

// newDirectory returns a directory of the part of the tree that scope chooses.
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

// run applies the steps of the cache.
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
}

func (d *Directory) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("directory of %q: %w", d.root, err)
}

// Close ends the directory, and returns when its goroutines have ended. Its Snapshot can
// still be read, and is interrupted. In an outage, Close returns nil at once, and
// deletes nothing; see "How a call ends a node" in the index of the recipes. Close may
// be called more than once, and always returns nil.
func (d *Directory) Close() error {
	d.life.Close()
	return nil
}

// Done is closed when the directory has ended. Err then returns the reason.
func (d *Directory) Done() <-chan struct{} { return d.life.Gone() }

// Err returns nil until the directory has ended. Then the error matches ErrClosed or
// framework.ErrClosed, or is an error of cache.Cache.Err.
func (d *Directory) Err() error { return d.named(d.life.Err()) }

// Path returns the node that the directory follows: the folder of the service, or the
// base that NewServices was given. For a codec whose Dir is "/", the folder of a service
// is the base.
func (d *Directory) Path() string { return d.root }

// Snapshot returns the current state of the directory, without a request.
func (d *Directory) Snapshot() *Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// Instances returns the current instances that are not disabled; see
// Snapshot.Instances.
func (d *Directory) Instances() []Instance { return d.Snapshot().Instances() }

// WaitSynced waits until the directory was filled for the first time. It returns the
// error of ctx or of Err. An error of ctx also says why the directory is not filled.
func (d *Directory) WaitSynced(ctx context.Context) error {
	return d.wait(ctx, func(s *Snapshot) bool { return s.Filled })
}

// WaitInstances waits until the directory has at least n instances that are not
// disabled. Its errors are the errors of WaitSynced.
func (d *Directory) WaitInstances(ctx context.Context, n int) error {
	return d.wait(ctx, func(s *Snapshot) bool { return s.Filled && len(s.Instances()) >= n })
}

// WaitFor waits until the directory is as new as a transaction, such as the Czxid of a
// node that another process has registered. See cache.Cache.WaitFor.
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
	// WaitSynced returns at once, with the reason if the cache is not filled.
	err := cmp.Or(d.cache.WaitSynced(ctx), reason.OfContext(ctx))
	if refusal := d.Snapshot().Err; refusal != nil {
		return fmt.Errorf("%w (%w)", err, refusal)
	}
	return err
}

// DirectoryOption configures a Directory.
type DirectoryOption func(*directoryConfig)

type directoryConfig struct{ grace time.Duration }

// WithRemovalGrace sets how long an instance stays in the directory after its node was
// deleted. The default is one second. With 0, the instance leaves at once, or at the end
// of an interruption of the directory.
//
// If a node with the same ID, address and ports is created within the grace, the
// directory reports no change. Java Curator deletes and re-creates its nodes after each
// interruption of its connection; without a grace, directories would be empty for a
// moment. A drained instance, and an instance whose node became malformed, leave as with
// a grace of 0. After an interruption of the directory, the grace starts again, because
// the registering processes may have been interrupted, too.
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

// Changes returns all instances as Added, followed by Synced, or by Interrupted if the
// directory may be old. Then it returns every change, until ctx or the directory ends.
// Changes waits until the directory is filled; if the server refuses to let it fill,
// Changes returns Interrupted. Each further refusal during an interruption is another
// Interrupted. If the directory ends, the last element is a Change with only Now, and
// the error of Err.
//
// Among changes of the same moment, removals and updates come before additions. A
// malformed node is reported once for each version of its data. A slow reader holds up
// neither the directory nor other readers: several changes become one, and the reader
// never misses the latest state.
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
				yield(Change{Now: d.Snapshot().next()}, err) // a new pointer, for callers that compare
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
