package cache

import (
	"log/slog"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/event"
)

// HookCacheOpened is a clienttrace.Hook that is told of every cache of a client
// when it begins. It reads Cache.Stats when it wants to, such as when metrics are
// collected. The calls have a goroutine of their own: a hook that blocks holds up no
// cache. The method must not panic.
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

// What a cache tells of.
var (
	eventFilled      = event.Kind{Flight: flight.Event{Kind: flight.CacheFilled, Name: "filled"}}
	eventFilledAgain = event.Kind{Flight: flight.Event{Kind: flight.CacheFilled, Name: "up to date again"}, Info: "zookeeper cache is up to date again"}
	eventInterrupted = event.Kind{Flight: flight.Event{Kind: flight.CacheInterrupted}}
	eventEnded       = event.Kind{Flight: flight.Event{Kind: flight.CacheEnded}}
	eventSetBack     = event.Kind{Warn: "zookeeper has gone back to an older state, and the cache with it"}
	eventUnwatched   = event.Kind{Warn: "zookeeper cache has no watch, and may be behind"}
	eventNotSynced   = event.Kind{Warn: "zookeeper cache cannot sync"}
	eventNoMultiRead = event.Kind{Warn: "zookeeper cache cannot read nodes together"}
	eventUnreadable  = event.Kind{Warn: "zookeeper cache cannot read a node"}
)

// tellOpened tells the hooks that there is a cache, and tellClosed that it has
// ended.
func (c *Cache) tellOpened() {
	c.events.Emit(event.Kind{Hook: event.Call(hookOpened, func(h HookCacheOpened) { h.CacheOpened(c) })}, nil)
}

func (c *Cache) tellClosed() {
	c.events.Emit(event.Kind{Hook: event.Call(hookClosed, func(h HookCacheClosed) { h.CacheClosed(c) })}, nil)
}

// tellSynced tells that the cache is filled, or up to date again, just before
// its callers can see that.
func (l *loop) tellSynced(again bool) {
	k, lag := eventFilled, time.Since(l.behindSince)
	if again {
		k = eventFilledAgain
	}
	k.Flight.Count, k.Flight.Took = len(l.tree.nodes), lag
	l.c.events.Emit(k, nil, slog.Float64(semconv.CacheLag, lag.Seconds()))
}
