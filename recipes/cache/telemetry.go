package cache

import (
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/event"
)

// Stats is how a cache does. It is for monitoring.
type Stats struct {
	Nodes int // how many nodes the cache has

	// Known is how many nodes the cache knows of, and ToRead how many of its
	// reads are still to be done. They are for people who wait for a large tree.
	Known, ToRead int

	// Lag is for how long the cache has been behind: for how long it has known
	// of a change, or of an interruption, that it has not caught up with. It is
	// 0 if there is none. A cache is behind from New on, until it is filled.
	Lag time.Duration

	// Behind is by how many transactions of the ensemble the cache is behind,
	// as far as the client knows: many of them may be about other nodes. It is
	// 0 if Lag is, and until the cache was filled for the first time. It begins
	// anew with each new leader of the ensemble.
	Behind int64

	// Resyncs is how often the cache has looked at every node again, and was up
	// to date afterwards: after a reconnect, or because there were too many
	// events to read.
	Resyncs int64
}

// Stats returns how the cache does now.
func (c *Cache) Stats() Stats {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.statsLocked()
}

func (c *Cache) statsLocked() Stats {
	s := Stats{Nodes: len(c.nodes), Known: c.known, ToRead: c.waiting, Resyncs: c.resyncs}
	if c.life.Err() != nil || c.behindSince.IsZero() {
		return s
	}
	s.Lag = time.Since(c.behindSince)
	if c.filled {
		s.Behind = transactionsBetween(c.zxid, c.client.LastZxid())
	}
	return s
}

// transactionsBetween counts by the lower half of the ids. The upper half is
// the number of the leader, which begins to count anew.
func transactionsBetween(from, to int64) int64 {
	const counter = 1<<32 - 1
	switch {
	case to <= from:
		return 0
	case from>>32 == to>>32:
		return to - from
	default:
		return to & counter
	}
}

// HookCacheOpened is a clienttrace.Hook that is called for every cache of a client
// when it begins, by the client's emitter. It reads Cache.Stats when it wants to, such as
// when metrics are collected.
type HookCacheOpened interface {
	CacheOpened(c *Cache)
}

// HookCacheClosed is HookCacheOpened for a cache that has ended.
type HookCacheClosed interface {
	CacheClosed(c *Cache)
}

var (
	hookOpened = framework.NewHookKind[HookCacheOpened]()
	hookClosed = framework.NewHookKind[HookCacheClosed]()
)

// The lines of a cache in the log.
var (
	eventUpToDate   = event.Kind{Info: "zookeeper cache is up to date again"}
	eventSetBack    = event.Kind{Warn: "zookeeper has gone back to an older state, and the cache with it"}
	eventUnwatched  = event.Kind{Warn: "zookeeper cache has no watch, and may be behind"}
	eventNotSynced  = event.Kind{Warn: "zookeeper cache cannot sync"}
	eventUnreadable = event.Kind{Warn: "zookeeper cache cannot read a node"}
)

// tellOpened tells the hooks that there is a cache, and tellClosed that it has
// ended.
func (c *Cache) tellOpened() {
	c.events.Emit(event.Kind{Hook: event.Call(hookOpened, func(h HookCacheOpened) { h.CacheOpened(c) })}, nil)
}

func (c *Cache) tellClosed() {
	c.events.Emit(event.Kind{Hook: event.Call(hookClosed, func(h HookCacheClosed) { h.CacheClosed(c) })}, nil)
}
