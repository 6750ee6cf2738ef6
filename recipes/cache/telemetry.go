package cache

import (
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/event"
)

// Stats has figures for monitoring a cache.
type Stats struct {
	Nodes int // how many nodes the cache has

	// Known is how many nodes the cache knows of, and ToRead how many reads are left.
	// They show the progress of the first fill of a large tree.
	Known, ToRead int

	// Lag is how long the cache has been behind: the time since it learned of a change
	// or interruption that it has not caught up with, or 0. A cache is behind from New
	// until it is filled.
	Lag time.Duration

	// Behind is how many transactions of the ensemble the cache is behind, as far as
	// the client knows; many of them may be about other nodes. Behind is 0 while Lag is
	// 0, and until the cache was filled for the first time. With each new leader of
	// the ensemble, the count restarts.
	Behind int64

	// Resyncs counts how often the cache has read the whole tree again and has become
	// up to date: after a reconnect, or after too many events at once.
	Resyncs int64
}

// Stats returns the current figures.
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

// transactionsBetween counts by the lower half of the ids. The upper half is the epoch,
// and each epoch restarts the count.
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

// HookCacheOpened is a clienttrace.Hook. The client's emitter calls CacheOpened for
// every new cache of the client. The hook may keep the cache, and call Cache.Stats
// whenever metrics are collected.
type HookCacheOpened interface {
	CacheOpened(c *Cache)
}

// HookCacheClosed is a clienttrace.Hook. The client's emitter calls CacheClosed for
// every cache of the client that has ended.
type HookCacheClosed interface {
	CacheClosed(c *Cache)
}

var (
	hookOpened = framework.NewHookKind[HookCacheOpened]()
	hookClosed = framework.NewHookKind[HookCacheClosed]()
)

// Log lines of a cache.
var (
	eventUpToDate   = event.Kind{Info: "zookeeper cache is up to date again"}
	eventSetBack    = event.Kind{Warn: "zookeeper has gone back to an older state, and the cache with it"}
	eventUnwatched  = event.Kind{Warn: "zookeeper cache has no watch, and may be behind"}
	eventNotSynced  = event.Kind{Warn: "zookeeper cache cannot sync"}
	eventUnreadable = event.Kind{Warn: "zookeeper cache cannot read a node"}
)
