package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Errors of a Cache.
var (
	// ErrClosed means that the cache was closed.
	ErrClosed = errors.New("cache is closed")

	// ErrFutureZxid means that no server has made the transaction yet.
	ErrFutureZxid = errors.New("no such transaction yet")

	// ErrWrongEvents ends a cache whose server sends events with a wrong path, as
	// ClickHouse Keeper does: it sends the path of the watch instead of the node's. The
	// cache notices that no such event has happened to its root. A wrong event goes
	// unnoticed only if the root itself was deleted and re-created in the same step.
	ErrWrongEvents = errors.New("the server sends watch events of the cache's own path that did not happen to it")
)

// Node is a node of the tree. All callers get the same Data, and must not change it.
type Node struct {
	Path string
	Data []byte
	Stat zk.Stat
}

// same reports whether two reads returned the same data of the same node. A node that
// was deleted and re-created has another Czxid.
func same(a, b *Node) bool {
	return a.Stat.Czxid == b.Stat.Czxid && a.Stat.Mzxid == b.Stat.Mzxid
}

// Cache is a copy of a node and everything below it. A Cache is safe for concurrent
// use, and must be closed. The zero Cache cannot be used; New makes one.
//
// A change costs at most one read. The cache reads several nodes with one request, a
// multiRead, when many nodes wait to be read: at the first fill, and when nodes change
// faster than single reads could follow. After each reconnect, the cache checks every
// node: it compares the transactions that created and last changed the node, and so
// notices a node that was deleted and re-created.
//
// # Limits
//
//   - A step takes at least one round trip, and contains every change of that time.
//     In a tree that changes all the time, a change reaches the cache after about
//     five round trips. Each node that begins to change faster than the cache can
//     read it adds two, once.
//   - The bound of five round trips holds while all nodes that change faster than
//     the cache can read them have at most half a megabyte of data and names. With
//     more, or if the server refuses multiReads, the cache takes its next step when
//     these nodes pause. Stats shows how long the cache has been behind.
//   - The cache takes no step while there is always some node that has a new name
//     and is deleted before the cache can read it.
//   - The fields of a Stat that count children (Cversion, NumChildren, Pzxid) are
//     as old as the last read of the node itself. Aversion is as old, because a
//     server sends no event when an ACL changes.
//   - ZooKeeper 3.8.4, 3.9.2 and later versions send no events of nodes that the
//     client may no longer read, not even of a deletion. The cache keeps such a
//     node unchanged until it next reads the whole tree.
//   - If an ensemble is restored from an old backup, the cache goes back, too, and
//     logs a warning.
type Cache struct {
	client *framework.Client
	scope  scope
	cfg    config
	events event.Source

	life     follow.Life
	recovery follow.Recovery // the loop's; has the last error for callers that wait
	poke     chan struct{}   // capacity 1: a caller waits for a transaction

	loop *loop // owned by the life's goroutine

	mu          sync.RWMutex                   // protects the following fields
	nodes       map[string]*Node               // setLocked removes a deleted node
	children    map[string]map[string]struct{} // names, by the parent's path; setLocked removes the parent with the last
	unreadable  map[string]error               // setUnreadableLocked removes a readable or deleted node
	zxid        int64
	synced      bool
	filled      bool
	steps       int                // counts the steps, for feeds
	known       int                // for Stats
	waiting     int                // for Stats
	resyncs     int64              // for Stats
	behindSince time.Time          // for Stats; zero while the cache is up to date
	feeds       map[*feed]struct{} // unsubscribe removes a reader that leaves
}

// New returns a cache of root and everything below it. The cache fills in the
// background; WaitSynced waits for that. The root need not exist.
//
// The error matches zk.ErrInvalidPath for an invalid path, is a
// *framework.ConfigError for an invalid option, and matches framework.ErrClosed if
// the client is closed.
func New(client *framework.Client, root string, opts ...Option) (*Cache, error) {
	if client == nil {
		return nil, bad("client", "nil", "must not be nil")
	}
	cfg, err := configured(opts)
	if err == nil {
		err = framework.ValidatePath(root)
	}
	if err != nil {
		return nil, fmt.Errorf("cache of %q: %w", root, err)
	}
	c := &Cache{
		client: client, scope: scope{root, cfg.depth, cfg.filter}, cfg: cfg, events: event.Of(client, root),
		poke:  make(chan struct{}, 1),
		nodes: map[string]*Node{}, children: map[string]map[string]struct{}{},
		unreadable: map[string]error{}, feeds: map[*feed]struct{}{},
	}
	c.recovery = follow.Recovery{
		Client: client, What: "zookeeper cache",
		About: c.events.Path,
		Ends:  isTooOld,
		// No other client waits for a cache.
		Survives: func(err error) bool { return !cfg.once && (follow.RefusedCredentials(err) || isRefusal(err)) },
	}
	c.life = follow.Life{Client: client, Closed: ErrClosed, Run: c.run, Finish: c.finish, GaveUp: c.recovery.GaveUp}
	c.behindSince = time.Now() // Stats may be called before the goroutine runs
	if err := c.life.Start(); err != nil {
		return nil, c.named(err)
	}
	return c, nil
}

// Read reads root and everything below it once, as of one transaction. The
// transaction is no older than the call, with the exceptions that
// framework.Client.Sync has. Read returns a closed cache, which does not change: its
// Zxid is the transaction, and its Get, Children and All return the nodes. The root
// need not exist.
//
// Read retries through outages and lost sessions until ctx ends, as WaitSynced does.
// If the server refuses to show a node, Read returns an error, such as one that
// matches zk.ErrNoAuth; WithFilter can leave such nodes out. Read sets a watch, and
// removes it before it returns. A program that reads the same tree often should keep
// a cache of New instead.
func Read(ctx context.Context, client *framework.Client, root string, opts ...Option) (*Cache, error) {
	c, err := New(client, root, append(slices.Clip(opts), func(c *config) { c.once = true })...)
	if err != nil {
		return nil, err
	}
	err = c.WaitSynced(ctx)
	c.Close()
	for _, path := range slices.Sorted(maps.Keys(c.unreadable)) {
		err = cmp.Or(err, c.named(c.unreadable[path]))
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// run owns everything that the cache does.
func (c *Cache) run(ctx context.Context) error {
	c.events.Emit(event.Kind{Hook: event.Call(hookOpened, func(h HookCacheOpened) { h.CacheOpened(c) })}, nil)
	c.loop = newLoop(framework.Extend(c.client).OnError(ctx, c.recovery.Note), c)
	err := c.loop.run()
	if ended := context.Cause(c.loop.ctx); ended != nil { // an error of a pause just says that it was canceled
		return ended
	}
	if isTooOld(err) {
		return fmt.Errorf("a cache needs the persistent watches of ZooKeeper 3.6 or later: %w", err)
	}
	return err
}

// isTooOld reports whether a server has no persistent watches.
func isTooOld(err error) bool { return reason.Is(err, framework.ErrUnimplemented) }

// isRefusal reports whether a server has refused a request.
func isRefusal(err error) bool {
	_, answered := framework.ServerCode(err)
	return answered && framework.IsRefusal(err)
}

// finish ends the goroutines of the loop, and then reports the end.
func (c *Cache) finish(reason error) {
	c.loop.finish(reason)
	c.life.End(reason)
	c.events.Emit(event.Kind{Hook: event.Call(hookClosed, func(h HookCacheClosed) { h.CacheClosed(c) })}, nil)
}

func (c *Cache) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cache of %q: %w", c.scope.root, err)
}

// Close ends the cache, and returns when the goroutines of the cache have ended. The
// nodes can still be read. In an outage, Close returns nil at once, and deletes
// nothing; see "How a call ends a node" in the index of the recipes. Close may be
// called more than once, and always returns nil.
func (c *Cache) Close() error {
	c.life.Close()
	return nil
}

// Done is closed when the cache has ended. Err then returns the reason.
func (c *Cache) Done() <-chan struct{} { return c.life.Gone() }

// Err returns nil until the cache has ended. Then the error matches ErrClosed,
// framework.ErrClosed, ErrWrongEvents, or framework.ErrUnimplemented if the server is
// older than ZooKeeper 3.6. For a path that is too long for a request, the error says
// so. Outages, lost sessions, failures of servers and refusals do not end a cache.
func (c *Cache) Err() error { return c.named(c.life.Err()) }

// WaitSynced waits until the cache was filled for the first time. It returns the
// error of ctx or of Err. An error of ctx also matches the last error that the cache
// has retried through since a server answered.
func (c *Cache) WaitSynced(ctx context.Context) error {
	return c.wait(ctx, func() bool { return c.filled })
}

// Client returns the client that New was given.
func (c *Cache) Client() *framework.Client { return c.client }

// Path returns the root that New was given.
func (c *Cache) Path() string { return c.scope.root }

// Zxid returns the transaction as of which the cache equals the server's tree, or 0
// until the cache was filled for the first time.
func (c *Cache) Zxid() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.zxid
}

// WaitFor waits until the cache is filled, and as new as a transaction: the Mzxid or
// Czxid of a Stat, a lock's fencing token, or a result of
// framework.Client.LastZxid, from any process. If the transaction is newer than
// everything this client has seen, WaitFor sends a Sync first, and a SyncQuorum if
// the Sync does not show the transaction.
//
// WaitFor returns the error of ctx, as WaitSynced does, of Err, or of a request. The
// error matches ErrFutureZxid if the transaction does not exist yet.
func (c *Cache) WaitFor(ctx context.Context, zxid int64) error {
	if c.isAsNewAs(zxid) {
		return nil
	}
	if err := c.hearOf(ctx, zxid); err != nil {
		return err
	}
	return c.wait(ctx, func() bool {
		select {
		case c.poke <- struct{}{}:
		default:
		}
		return c.filled && c.zxid >= zxid
	})
}

// hearOf returns nil if the transaction exists. An answered sync does not prove that
// the transaction is missing, because a leader answers before it has applied what its
// followers have acknowledged. The cache proves it with a write: the transaction of this
// write comes after all others.
func (c *Cache) hearOf(ctx context.Context, zxid int64) error {
	if c.client.LastZxid() < zxid {
		if err := c.client.Sync(ctx, c.scope.root); err != nil {
			return err
		}
	}
	if c.client.LastZxid() >= zxid {
		return nil
	}
	if err := c.client.SyncQuorum(ctx); err != nil {
		return err
	}
	if c.client.LastZxid() <= zxid { // equal: SyncQuorum's own transaction
		return fmt.Errorf("cache of %q: %w: %#x", c.scope.root, ErrFutureZxid, zxid)
	}
	return nil
}

func (c *Cache) isAsNewAs(zxid int64) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.filled && c.zxid >= zxid
}

// wait waits until a condition holds. It calls holds with c.mu held for reading.
func (c *Cache) wait(ctx context.Context, holds func() bool) error {
	return c.named(c.life.Wait(ctx, func() bool {
		c.mu.RLock()
		defer c.mu.RUnlock()
		return holds()
	}))
}

// Get returns a node of the cache.
func (c *Cache) Get(path string) (Node, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if n := c.nodes[path]; n != nil {
		return *n, true
	}
	return Node{}, false
}

// Children returns the current children of a node, ordered by name.
func (c *Cache) Children(path string) iter.Seq[Node] {
	c.mu.RLock()
	defer c.mu.RUnlock()
	list := make([]*Node, 0, len(c.children[path]))
	for name := range c.children[path] {
		if n := c.nodes[znode.Join(path, name)]; n != nil {
			list = append(list, n)
		}
	}
	return inOrder(list)
}

// All returns all current nodes, parents before their children. The nodes are as of
// one transaction, however long the loop over them takes.
func (c *Cache) All() iter.Seq[Node] {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return inOrder(slices.Collect(maps.Values(c.nodes)))
}

// inOrder yields the nodes ordered by path. It sorts a copy, because several
// goroutines may loop at the same time.
func inOrder(list []*Node) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		byPath := func(a, b *Node) int { return cmp.Compare(a.Path, b.Path) }
		for _, n := range slices.SortedFunc(slices.Values(list), byPath) {
			if !yield(*n) {
				return
			}
		}
	}
}

// Unreadable returns the nodes that the client could not read, with the errors. The
// cache reads such a node again after each reconnect, when the node changes, and
// periodically:
//
//   - within 30 seconds after a failure of the server or a refusal of the cache's root
//   - within ten minutes after a refusal of another node, or after an answer that was too
//     long
//
// Until then, a deleted node may stay in the result.
func (c *Cache) Unreadable() map[string]error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Clone(c.unreadable)
}

// interrupted notes that the cache may be behind.
func (c *Cache) interrupted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.synced {
		c.synced = false
		c.life.Tell()
	}
}

// progress notes how many nodes are read, and since when the cache has been behind.
func (c *Cache) progress(known, waiting int, behindSince time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.waiting, c.behindSince = known, waiting, behindSince
}

func (c *Cache) wasFilled() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.filled
}

func (c *Cache) isSynced() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.synced
}
