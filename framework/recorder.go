package framework

import (
	"strconv"

	"github.com/gocurator/curator/internal/flight"
)

// defaultRecentEvents is how many events the flight recorder keeps by default.
const defaultRecentEvents = 256

// maxRecentEvents bounds the memory of a flight recorder to some 50 megabytes
// under common conditions, and to some 300 megabytes under the worst.
const maxRecentEvents = 1 << 16

// WithRecentEvents sets how many events the client keeps for package
// debug/snapshot, and so for a debug page: so many rare ones, such as losses,
// and as many frequent ones, such as grants. The default is 256. The limit is
// 65,536.
//
// 256 events of each kind take about 100 kilobytes, or 200 if most acquires end
// without the lock: the event of such an acquire keeps its error, with what the
// holder's node says of its owner. That is some 200 bytes for owners of this
// library, and 4 kilobytes at most. If all nodes have so much data, 256 events
// take 1.2 megabytes.
//
// With 0, the client keeps no record at all. Snapshots then show its connection
// and its watches, but no locks, registrations and caches.
func WithRecentEvents(n int) Option {
	return func(c *config) { c.recentEvents = n }
}

// WithAcquireStacks has snapshots of package debug/snapshot show where each
// lock was acquired that is held or waited for. Every acquire then takes a few
// microseconds more.
func WithAcquireStacks() Option {
	return func(c *config) { c.acquireStacks = true }
}

func (c *config) validateRecorder() error {
	if c.recentEvents < 0 || c.recentEvents > maxRecentEvents {
		return badArgument("recent events", strconv.Itoa(c.recentEvents), "must be from 0 to 65536")
	}
	return nil
}

// Recorder returns the client's flight recorder, or nil if WithRecentEvents has
// turned it off. It is for the packages of this library, to whom alone its type
// is known.
func (e Extension) Recorder() *flight.Recorder { return e.recorder }
