package cache

import "time"

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

// isBehind reports whether there is something that the cache has not caught up
// with.
func (l *loop) isBehind() bool {
	return l.syncing || l.behind || len(l.dirty)+len(l.batch)+len(l.inflight) > 0
}

// noteLag notes since when the cache is behind.
func (l *loop) noteLag() {
	switch {
	case !l.isBehind():
		l.behindSince = time.Time{}
	case l.behindSince.IsZero():
		l.behindSince = time.Now()
	}
}

// tellProgress has Stats tell how far the cache is.
func (l *loop) tellProgress() {
	l.noteLag()
	l.c.progress(len(l.tree.nodes), len(l.dirty)+len(l.batch)+len(l.inflight), l.behindSince)
}

// caughtUpWith notes that the cache has caught up with the batch that began at
// a time. The rest came later.
func (l *loop) caughtUpWith(batch time.Time) {
	if batch.After(l.behindSince) {
		l.behindSince = batch
	}
}
