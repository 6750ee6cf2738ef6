package zktest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// cluster is what the members of an ensemble share. A standalone server has one
// for itself.
type cluster struct {
	cfg    config
	tb     TB             // the test that the servers belong to; nil for those of Run and RunEnsemble
	secret uint64         // behind the passwords of sessions
	timers sync.WaitGroup // every alarm that may still go off
	idle   idleNotifier   // for those who wait until nothing is under way

	// mu guards the rest, everything in Server that is not said to be constant,
	// and the marked fields of conn, session and Member. It is held for work in
	// memory only, never while waiting or calling a test's function.
	mu             sync.Mutex
	epoch          int64 // how many leaders there were; 0 for a standalone server
	sessions       map[int64]*session
	ownSessions    map[int64]*session // those that are known to one read-only member only; nil until there is one
	lastSession    int64
	accepted       int64              // connections so far
	replaced       map[int64]struct{} // sessions to be replaced silently at the next handshake; nil until there is one
	pausedSessions map[int64]struct{} // sessions whose requests wait; nil until there is one
	handshakes     int64              // connections that have made themselves known
	closing        bool               // no alarm is set any more
	sim            *simulation        // nil without WithChaos

	changed chan struct{} // closed at the next change; nil if nobody waits
}

// secretOf returns what passwords of sessions are made of. With a chaos plan
// from the beginning, it depends on the seed, so that the same seed gives the
// same run.
func secretOf(cfg config) uint64 {
	if cfg.plan != nil {
		return cfg.plan.Seed
	}
	return rand.Uint64()
}

func newCluster(cfg config) *cluster {
	c := &cluster{
		cfg:      cfg,
		secret:   secretOf(cfg),
		sessions: make(map[int64]*session),
	}
	c.lastSession = firstSessionID(time.Now())
	return c
}

// unlock ends a critical section that may have changed something, and lets the
// waiting functions look again.
func (c *cluster) unlock() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
	c.mu.Unlock()
}

// nextChangeLocked returns a channel that is closed at the next change.
func (c *cluster) nextChangeLocked() <-chan struct{} {
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.changed
}

// oldestFirstLocked returns the sessions in the order in which they began.
func (c *cluster) oldestFirstLocked() []*session { return inOrder(c.sessions) }

func inOrder(sessions map[int64]*session) []*session {
	if len(sessions) == 0 {
		return nil
	}
	list := make([]*session, 0, len(sessions))
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		list = append(list, sessions[id])
	}
	return list
}

// stopClocksLocked keeps everything from happening by itself, for ever.
func (c *cluster) stopClocksLocked() {
	c.closing = true
	for _, sess := range c.sessions {
		sess.expiry.stop()
	}
	for _, sess := range c.ownSessions {
		sess.expiry.stop()
	}
	if c.sim != nil {
		c.sim.stopLocked()
	}
}

// invalidPath is misuse of a path. What cannot be the path of a node would look
// like a node that does not exist.
func (c *cluster) invalidPath(path string) error {
	if c.tb != nil {
		c.tb.Helper()
	}
	return c.refuse(invalidPath(path))
}

func invalidPath(path string) error {
	return fmt.Errorf("zktest: invalid path %q, where a node's begins with a slash and does not end in one", path)
}

// misuse is what becomes of arguments that make no sense. It fails the test of
// the servers, if they have one, and returns the error.
func (c *cluster) misuse(format string, args ...any) error {
	if c.tb != nil {
		c.tb.Helper()
	}
	return c.refuse(fmt.Errorf("zktest: "+format, args...))
}

func (c *cluster) refuse(err error) error {
	if c.tb != nil {
		c.tb.Helper()
		c.tb.Fatalf("%v", err)
	}
	return err
}
