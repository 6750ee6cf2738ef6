package zkwatcher

import (
	"crypto/rand"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/shared"
)

// Watcher tells the instances of a policy of each other's changes. It is a
// persist.Watcher of casbin v2 and v3. It is safe for concurrent use, and must
// be closed. The zero Watcher cannot be used: New makes one.
type Watcher struct {
	client  *framework.Client
	path    string
	value   *shared.Value[change]
	id      string // no other Watcher has it
	withOwn bool
	load    func() error // New's, or nil

	goroutines sync.WaitGroup
	wake       chan struct{} // there is something to announce
	ready      chan struct{} // closed when there is a callback

	mu       sync.Mutex     // protects the following fields
	callback func(string)   // SetUpdateCallback's
	pending  *announcement  // what the next write announces, or nil
	over     bool           // nothing is announced any more
	silence  bool           // an Update has waited in vain for what is announced
	number   int            // counts the changes
	calling  callInProgress // the callback
}

// Option configures a Watcher.
type Option func(*Watcher)

// WithOwnUpdates says that a Watcher's own Update calls its callback, too. By
// default it does so for the others' alone: casbin's enforcer has the change
// already when it calls Update. A callback that calls Update itself is called for
// ever then.
func WithOwnUpdates() Option { return func(w *Watcher) { w.withOwn = true } }

// New returns a Watcher for all instances that give the same path, and begins
// to follow its node. It waits for nothing, and needs no connection.
//
// Load is called after each change of another instance, and once at the
// beginning: what was changed since the policy was first loaded is in it then.
// If it fails, it is called again, after pauses that grow up to 30 seconds. It
// should be the method LoadPolicy of the enforcer itself. For an enforcer that
// caches decisions, it should call InvalidateCache after that: LoadPolicy clears
// the cache before it reads, and what is decided meanwhile, by the old policy,
// stays. If load is nil, the callback of SetUpdateCallback is called in its
// place.
//
// A path that cannot be used is an error that matches zk.ErrInvalidPath. A
// client or an option that is nil matches zk.ErrBadArguments. A closed client
// is framework.ErrClosed.
func New(c *framework.Client, path string, load func() error, opts ...Option) (*Watcher, error) {
	w := &Watcher{
		client: c, path: path, id: rand.Text(), load: load,
		wake: make(chan struct{}, 1), ready: make(chan struct{}),
	}
	for _, opt := range opts {
		if opt == nil {
			return nil, mustNotBeNil("option")
		}
		opt(w)
	}
	var err error
	if w.value, err = shared.NewValue(c, path, changes(), change{}, shared.WithUniqueData()); err != nil {
		return nil, err
	}
	if load != nil {
		close(w.ready)
	}
	w.goroutines.Go(w.follow)
	w.goroutines.Go(w.announceAll)
	return w, nil
}

// SetUpdateCallback sets the function that is called after each change of
// another instance, with an empty string: one call may stand for many changes.
// It is called once at the beginning, too. It is for casbin, whose SetWatcher
// calls it.
//
// If New was given a function to load the policy, that is called, and the
// callback is not: casbin's own drops the error of LoadPolicy, takes no lock of
// a SyncedEnforcer, and leaves the decisions of a CachedEnforcer as they are.
func (w *Watcher) SetUpdateCallback(callback func(string)) error {
	if callback == nil {
		return mustNotBeNil("callback")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.callback == nil && w.load == nil {
		close(w.ready)
	}
	w.callback = callback
	return nil
}

// Done returns a channel that is closed when the Watcher has ended, for the
// reason that Err returns. It hears of no change any more.
func (w *Watcher) Done() <-chan struct{} { return w.value.Done() }

// Err returns nil while the Watcher works. After that it is an error that
// matches shared.ErrClosed, framework.ErrClosed, or a refusal of the server,
// such as zk.ErrNoAuth, which is in the client's log, too. Outages and losses
// of the session do not end it.
func (w *Watcher) Err() error { return w.value.Err() }

// Close ends the Watcher. When it has returned, no callback runs, and none
// begins. Only if it is called in the callback, that goes on. Close may be
// called more than once. Closing the client ends a Watcher, too, but does not
// wait for a callback.
func (w *Watcher) Close() {
	w.value.Close()
	if !w.isInCallback() {
		w.goroutines.Wait()
	}
}

func mustNotBeNil(name string) error {
	return &framework.ConfigError{Name: name, Value: "nil", Reason: "must not be nil"}
}
