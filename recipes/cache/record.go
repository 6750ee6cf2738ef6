package cache

import (
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
)

// record has the client's flight recorder show the cache. The returned function
// ends that.
func (c *Cache) record() (end func()) {
	return framework.Extend(c.client).Recorder().AddCache(c.recorded)
}

// recorded describes the cache for the flight recorder.
func (c *Cache) recorded() flight.Cache {
	stats := c.Stats()
	known, toRead := c.Progress()
	c.mu.RLock()
	defer c.mu.RUnlock()
	return flight.Cache{
		Root: c.fullRoot(), Synced: c.everSynced, Nodes: known, ToRead: toRead,
		Zxid: c.zxid, Lag: stats.Lag, Behind: stats.Behind, Resyncs: stats.Resyncs, Err: c.err,
	}
}

// recordInterruption tells the flight recorder that the cache is not up to date
// any more.
func (c *Cache) recordInterruption() { c.recordEvent(flight.Event{Kind: flight.CacheInterrupted}) }

// recordEnd tells the flight recorder why the cache has ended.
func (c *Cache) recordEnd(err error) {
	if errors.Is(err, ErrClosed) || errors.Is(err, framework.ErrClosed) {
		err = nil // the user wanted that
	}
	c.recordEvent(flight.Event{Kind: flight.CacheEnded, Err: err})
}

// recordEvent may be called under the mutex.
func (c *Cache) recordEvent(e flight.Event) {
	e.Path = c.fullRoot()
	framework.Extend(c.client).Recorder().Add(e)
}

// recordSyncedLocked tells the flight recorder that the cache is filled, or up
// to date again.
func (c *Cache) recordSyncedLocked(nodes int) {
	e := flight.Event{Kind: flight.CacheFilled, Name: "filled", Count: nodes}
	if c.everSynced {
		e.Name = "up to date again"
	}
	if !c.behindSince.IsZero() {
		e.Took = time.Since(c.behindSince)
	}
	c.recordEvent(e)
}

func (c *Cache) fullRoot() string { return framework.Extend(c.client).FullPath(c.scope.root) }
