package atomic

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
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
const memory = time.Second

func (s snapshot) isRecent(now time.Time, session int64) bool {
	return !s.at.IsZero() && s.session == session && now.Sub(s.at) < memory
}

// now is the time of a clock that goes on while the machine is suspended.
func (c *cell) now() time.Time { return framework.Extend(c.client).Clock() }

func snapshotOf(now time.Time, session int64, data []byte, stat *zk.Stat) snapshot {
	return snapshot{now, session, true, data, stat.Version, stat.Czxid, stat.EphemeralOwner}
}

// base returns the node as the round takes it to be.
func (r *round) base() (snapshot, error) {
	r.fresh = false
	r.takeLoaded()
	if r.seen.isRecent(r.now(), r.client.SessionID()) {
		return r.seen, nil
	}
	var s snapshot
	if err := r.until(func() (err error) { s, err = r.look(r.path, r.synced); return err }); err != nil {
		return snapshot{}, err
	}
	r.seen, r.fresh = s, r.synced
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

// forget drops what is known of the node, which has changed.
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
// it does not matter who has made it, or how often.
func (r *round) create() error {
	session := r.client.SessionID()
	created, err := r.client.Create(r.ctx, r.path, nil, framework.WithParents(), framework.WithIdempotence())
	switch {
	case err == nil:
		r.seen = snapshot{at: r.now(), session: session, exists: true, czxid: created.Czxid}
		return nil
	case reason.Is(err, zk.ErrNodeExists):
		r.forget()
		return nil
	default:
		return r.beginAnew(err)
	}
}
