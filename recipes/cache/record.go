package cache

import (
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/reason"
)

// record has the client's flight recorder show the cache. The returned function
// ends that, with the error that Err returns.
func (c *Cache) record() (end func()) {
	told := framework.Extend(c.client).Recorder().AddCache(c.fullRoot(), c.recorded)
	return func() { told(unlessWanted(c.Err())) }
}

// recorded describes the cache for the flight recorder, as of one moment.
func (c *Cache) recorded() flight.Cache {
	c.mu.RLock()
	defer c.mu.RUnlock()
	stats := c.statsLocked()
	return flight.Cache{
		Root: c.fullRoot(), Synced: c.everSynced, Nodes: stats.Known, ToRead: stats.ToRead,
		Zxid: c.zxid, Lag: stats.Lag, Behind: stats.Behind, Resyncs: stats.Resyncs,
		Unreadable: len(c.unreadable), RootErr: c.unreadable[c.scope.root],
	}
}

// recordInterruption tells the flight recorder that the cache is not up to date
// any more.
func (c *Cache) recordInterruption() { c.recordEvent(flight.Event{Kind: flight.CacheInterrupted}) }

// recordEnd tells the flight recorder why the cache has ended.
func (c *Cache) recordEnd(err error) {
	c.recordEvent(flight.Event{Kind: flight.CacheEnded, Err: unlessWanted(err)})
}

// unlessWanted returns nil for an end that the user wanted.
func unlessWanted(err error) error {
	if reason.Is(err, ErrClosed) || reason.Is(err, framework.ErrClosed) {
		return nil
	}
	return err
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
