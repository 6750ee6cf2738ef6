package zktest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// cluster is what the members of an ensemble share. A standalone server has one
// for itself.
type cluster struct {
	refuser
	cfg    config
	secret uint64       // behind the passwords of sessions
	idle   idleNotifier // for those who wait until nothing is under way

	// The monitor guards the rest, everything in Server that is not said to be
	// constant, and the marked fields of conn, session and Member.
	monitor
	alarms
	epoch          int64 // how many leaders there were; 0 for a standalone server
	sessions       map[int64]*session
	ownSessions    map[int64]*session // those that are known to one read-only member only; nil until there is one
	lastSession    int64
	accepted       int64              // connections so far
	replaced       map[int64]struct{} // sessions to be replaced silently at the next handshake; nil until there is one
	pausedSessions map[int64]struct{} // sessions whose requests wait; nil until there is one
	handshakes     int64              // connections that have made themselves known
	sim            *simulation        // nil without WithChaos
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
