package atomic

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
)

// snapshot is what a node was like when it was last seen. The zero value knows
// nothing.
type snapshot struct {
	at      time.Time
	session int64 // the client's, before it looked
	exists  bool
	data    []byte
	version int32
	czxid   int64
	owner   int64 // the session of an ephemeral node, else 0
}

// memory is for how long a node is taken to be as it was. A write is refused if
// it is not, by its version. The time is short, because a node that was deleted
// and re-created may have the same version again. It ends with the session, too.
//
// While others write, too, it is shorter still: long enough for the next change of
// several in a row, and not for one that comes later.
const (
	memory        = time.Second
	crowdedMemory = 10 * time.Millisecond
)

// A writer whose writes are all applied learns nothing of others. They read the
// node before they write it, and it does not, so that it is the faster one each
// time. So it reads as well after so many writes, and is no faster than they are
// then. While others write, too, that is after fewer. It is not after each one: as
// long as one writer is faster, the others pause, and each change takes fewer
// requests.
const (
	longestRun        = 16
	longestCrowdedRun = 4
)

// isCrowded reports whether another one was faster within the last second.
func (c *cell) isCrowded() bool { return !c.beatenAt.IsZero() && c.now().Sub(c.beatenAt) < memory }

// knows reports whether the node is taken to be as it was when it was last seen.
func (c *cell) knows() bool {
	s, longest := c.seen, memory
	if c.isCrowded() {
		longest = crowdedMemory
	}
	return !s.at.IsZero() && s.session != 0 && s.session == c.client.SessionID() && c.now().Sub(s.at) < longest
}

// longestRun returns how many writes there are between two reads.
func (c *cell) longestRun() int {
	if c.isCrowded() {
		return longestCrowdedRun
	}
	return longestRun
}

// now is the time of a clock that goes on while the machine is suspended.
func (c *cell) now() time.Time { return insider.Of(c.client).Clock() }

func snapshotOf(now time.Time, session int64, data []byte, stat *zk.Stat) snapshot {
	return snapshot{now, session, true, data, stat.Version, stat.Czxid, stat.EphemeralOwner}
}

// base returns the node as the round takes it to be.
func (r *round) base() (snapshot, error) {
	r.fresh = false
	r.takeLoaded()
	if r.knows() {
		return r.seen, nil
	}
	var s snapshot
	if err := r.until(func() (err error) { s, err = r.look(r.path, r.synced); return err }); err != nil {
		return snapshot{}, err
	}
	r.seen, r.fresh, r.unseen = s, r.synced, 0
	r.synced = false
	if r.writes != nil {
		r.writes.noteLoaded(s)
	}
	return s, nil
}

// noteLoaded lends the node, as a Load has seen it, to the next write.
func (c *cell) noteLoaded(s snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded = s
}

// takeLoaded takes what a Load has seen, if that is younger than what is known.
func (c *cell) takeLoaded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.loaded; s.at.After(c.seen.at) && (s.czxid != c.seen.czxid || s.version >= c.seen.version) {
		c.seen = s
	}
	c.loaded = snapshot{}
}

// forget drops what is known of the node, which has changed, or may have.
func (c *cell) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen, c.loaded = snapshot{}, snapshot{}
}

// look reads a node. With sync it sees everything that was committed before.
func (r *round) look(path string, sync bool) (s snapshot, err error) {
	session := r.client.SessionID()
	read := func(ctx context.Context) error {
		if sync {
			if err := r.client.Sync(ctx, path); err != nil {
				return err
			}
		}
		data, stat, err := r.client.Get(ctx, path)
		if reason.Is(err, zk.ErrNoNode) {
			s = snapshot{at: r.now(), session: session}
			return nil
		}
		if err == nil {
			s = snapshotOf(r.now(), session, data, stat)
		}
		return err
	}
	if !sync {
		err = read(r.ctx)
		return s, err
	}
	// The read must be of the session of the sync: only there does the one
	// follow the other.
	err = r.client.InSession(r.ctx, read)
	return s, err
}

// create makes the node without any data, which stands for the zero value. So
// it does not matter whose create was applied. A node that is there already is
// read before it is written, because it may be ephemeral.
func (r *round) create() error {
	session := r.client.SessionID()
	created, err := r.client.Create(r.ctx, r.path, nil, framework.WithParents())
	if err == nil {
		r.seen = snapshot{at: r.now(), session: session, exists: true, czxid: created.Czxid}
		return nil
	}
	r.forget()
	if reason.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return r.beginAnew(err)
}
