package shared

import (
	"bytes"
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/sharednode"
)

// refresh reads the node. The server catches up first if sync is true, and if a read is
// older than the latest snapshot.
func (r *replica) refresh(ctx context.Context, sync bool) error {
	for {
		base := r.latest()
		if sync {
			if err := r.Client.Sync(ctx, r.Path); err != nil {
				return err
			}
		}
		s, err := r.Read(ctx)
		if err != nil {
			return err
		}
		v, setBack := r.accept(s, base, sync)
		r.warnOf(s, base, v, setBack)
		if v == accepted {
			return nil
		}
		sync = sync || v == doubtful
	}
}

// keep takes the snapshot after a write of this Value.
func (r *replica) keep(ctx context.Context, s *sharednode.Snapshot) {
	if !r.wrote(s) {
		_ = r.refresh(ctx, false) // if the read fails, live reads the node later
	}
}

// expected is what a compare-and-set expects: the node as an earlier read or
// write has left it.
type expected struct {
	exists       bool
	version      int32
	czxid, mzxid int64
}

// isPast reports whether a snapshot shows that the expected state is over. The state
// without a node may return, so it is never over for good.
func (e expected) isPast(s *sharednode.Snapshot) bool {
	return s != nil && e.exists && (s.Exists && s.Mzxid > e.mzxid || !s.Exists && s.From >= e.mzxid)
}

// next reports whether version follows the expected version. Newer servers skip -1, which
// means any version.
func (e expected) next(version int32) bool {
	return version == e.version+1 || version == 0 && e.version == anyVersion-1
}

const anyVersion = framework.AnyVersion

// trySet writes data if the node is as expected, and returns the node as it is after the
// call.
func (r *replica) trySet(ctx context.Context, e expected, data []byte) (s *sharednode.Snapshot, ok bool, err error) {
	switch {
	case e.exists && e.version == anyVersion:
		return nil, false, bad("version of the previous value", e.version, "would match every version; Set overwrites it")
	case r.life.Err() != nil:
		return nil, false, r.life.Err()
	}
	if now := r.latest(); e.isPast(now) {
		return now, false, nil
	}
	send := func(ctx context.Context) (*sharednode.Snapshot, error) { return r.sendExpecting(ctx, e, data) }
	s, err = r.Do(ctx, send, func(now *sharednode.Snapshot) sharednode.Fate { return e.resolve(now, data) })
	switch {
	case isConflict(e, err):
		err = r.refresh(ctx, false) // without a sync: this server has the conflicting write
		return r.latest(), false, err
	case err != nil:
		return nil, false, err
	}
	r.keep(ctx, s)
	if e.exists && s.Czxid != e.czxid {
		return s, true, ErrNodeReplaced
	}
	return s, true, nil
}

// isConflict reports whether the server refused a write because the node is not as
// expected.
func isConflict(e expected, err error) bool {
	switch {
	case err == nil, reason.Is(err, framework.ErrOutcomeUnknown):
		return false
	case e.exists:
		return reason.Is(err, zk.ErrBadVersion) || reason.Is(err, zk.ErrNoNode)
	default:
		return reason.Is(err, zk.ErrNodeExists)
	}
}

// sendExpecting sends one compare-and-set.
func (r *replica) sendExpecting(ctx context.Context, e expected, data []byte) (*sharednode.Snapshot, error) {
	if !e.exists {
		return r.Create(ctx, data)
	}
	return r.Transact(ctx, data, framework.CheckOp(r.Path, e.version))
}

// resolve derives the outcome of a lost request from the node. The outcome stays unknown
// if the node was created, deleted, or written more than once.
func (e expected) resolve(now *sharednode.Snapshot, data []byte) sharednode.Fate {
	sameNode := e.exists && now.Exists && now.Czxid == e.czxid
	switch {
	case sameNode && now.Version == e.version:
		return sharednode.NotApplied // the node is unchanged, even if it has equal data
	case sameNode && e.next(now.Version) && !bytes.Equal(now.Data, data):
		return sharednode.NotApplied // another client has written; the next attempt returns BadVersion
	}
	return sharednode.Unknown
}

// set writes data over any data, and returns the node as it is after the call.
func (r *replica) set(ctx context.Context, data []byte) (*sharednode.Snapshot, error) {
	if err := r.life.Err(); err != nil {
		return nil, err
	}
	s, err := r.Set(ctx, r.latest(), data)
	if err == nil {
		r.keep(ctx, s)
	}
	return s, err
}
