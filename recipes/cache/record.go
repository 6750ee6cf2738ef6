package cache

import (
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/insider"
)

// record has the client's flight recorder show the cache. The returned function
// ends that, with the error that Err returns.
func (c *Cache) record() (end func()) {
	told := insider.Of(c.client).Recorder().Followers().Caches.Add(c.events.FullPath(), c.recorded)
	return func() { told(c.life.UnlessWanted(c.Err())) }
}

// recorded describes the cache for the flight recorder, as of one moment.
func (c *Cache) recorded() flight.Cache {
	c.mu.RLock()
	defer c.mu.RUnlock()
	stats := c.statsLocked()
	return flight.Cache{
		Root: c.events.FullPath(), Synced: c.filled, Nodes: stats.Known, ToRead: stats.ToRead,
		Zxid: c.zxid, Lag: stats.Lag, Behind: stats.Behind, Resyncs: stats.Resyncs,
		Unreadable: len(c.unreadable), RootErr: c.unreadable[c.scope.root],
	}
}
