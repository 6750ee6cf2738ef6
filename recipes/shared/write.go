package shared

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// attempt is one request that writes, and how to find out what has become of it
// when its reply is lost. It is for one session: as long as that lives, no
// server carries the request out after a sync that follows it. In the next
// session, one still may.
type attempt struct {
	send    func(ctx context.Context) (*snapshot, error)
	resolve func(now *snapshot) fate
}

// fate is what has become of a request whose reply was lost.
type fate int

const (
	unknown fate = iota
	applied      // the node is as the request leaves it
	notApplied
)

// do makes the attempt, and makes it again after a lost reply if it was not
// applied. It returns the node as the write has left it.
func (r *replica) do(ctx context.Context, a attempt) (s *snapshot, err error) {
	for {
		err = r.client.InSession(ctx, func(ctx context.Context) (err error) {
			s, err = r.doInSession(ctx, a)
			return err
		})
		sent := err == nil || errors.Is(err, framework.ErrOutcomeUnknown)
		if sent || !errors.Is(err, framework.ErrSessionLost) || ctx.Err() != nil {
			return s, err
		}
	}
}

func (r *replica) doInSession(ctx context.Context, a attempt) (*snapshot, error) {
	for {
		s, err := a.send(ctx)
		if !errors.Is(err, framework.ErrOutcomeUnknown) || ctx.Err() != nil {
			return s, err
		}
		now, readErr := r.readPatiently(ctx)
		if readErr != nil {
			return nil, fmt.Errorf("%w (and then: %w)", err, readErr)
		}
		switch a.resolve(now) {
		case applied:
			return now, nil
		case unknown:
			return nil, err
		}
	}
}

// readPatiently is readNewest for a caller that does not give up before ctx
// ends.
func (r *replica) readPatiently(ctx context.Context) (*snapshot, error) {
	var pauses pauses
	for {
		s, err := r.readNewest(ctx)
		if ctx.Err() != nil || !framework.IsConnectionError(err) || errors.Is(err, zk.ErrAuthFailed) {
			return s, err
		}
		if ended := pauses.pause(ctx, longestOfOutage); ended != nil {
			return nil, fmt.Errorf("%w (last error: %w)", ended, err)
		}
	}
}

// readNewest reads the node after the server has caught up.
func (r *replica) readNewest(ctx context.Context) (*snapshot, error) {
	if err := r.client.Sync(ctx, r.path); err != nil {
		return nil, err
	}
	return r.read(ctx)
}

func (r *replica) read(ctx context.Context) (*snapshot, error) {
	asked := r.client.LastZxid()
	data, stat, err := r.client.Get(ctx, r.path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return absent(asked, r.client.LastZxid()), nil
	case err != nil:
		return nil, err
	}
	return present(data, stat), nil
}

// refresh takes what the node is now. The server catches up first if that is
// asked for, and if it lags behind what is known.
func (r *replica) refresh(ctx context.Context, sync bool) error {
	for {
		base, read := r.latest(), r.read
		if sync {
			read = r.readNewest
		}
		s, err := read(ctx)
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

// keep takes what a write of ours has left.
func (r *replica) keep(ctx context.Context, s *snapshot) {
	if !r.wrote(s) {
		_ = r.refresh(ctx, false) // if it fails, follow does the same later
	}
}

// expected is what a compare-and-set expects: the node as an earlier read or
// write has left it.
type expected struct {
	exists       bool
	version      int32
	czxid, mzxid int64
}

// isPast reports whether a snapshot shows that what is expected is over. Only a
// node that was written is over for good: there may be no node again.
func (e expected) isPast(s *snapshot) bool {
	return s != nil && e.exists && (s.exists && s.mzxid > e.mzxid || !s.exists && s.from >= e.mzxid)
}

// next reports whether version is the one behind the expected one. Newer
// servers leave out -1, which means any version.
func (e expected) next(version int32) bool {
	return version == e.version+1 || version == 0 && e.version == anyVersion-1
}

const anyVersion = framework.AnyVersion

// trySet writes data if the node is what is expected, and returns the node as
// it is then.
func (r *replica) trySet(ctx context.Context, e expected, data []byte) (s *snapshot, ok bool, err error) {
	switch {
	case e.exists && e.version == anyVersion:
		return nil, false, bad("version of the previous value", e.version, "would match every version; Set overwrites it")
	case r.ended() != nil:
		return nil, false, r.ended()
	}
	if now := r.latest(); e.isPast(now) {
		return now, false, nil
	}
	s, err = r.do(ctx, attempt{
		send:    func(ctx context.Context) (*snapshot, error) { return r.sendExpecting(ctx, e, data) },
		resolve: func(now *snapshot) fate { return e.resolve(now, data, r.unique) },
	})
	switch {
	case isConflict(e, err):
		err = r.refresh(ctx, false) // this server has seen what is in the way
		return r.latest(), false, err
	case err != nil:
		return nil, false, err
	}
	r.keep(ctx, s)
	if e.exists && s.czxid != e.czxid {
		return s, true, ErrNodeReplaced
	}
	return s, true, nil
}

// isConflict reports whether the server found another node than was expected.
func isConflict(e expected, err error) bool {
	switch {
	case err == nil, errors.Is(err, framework.ErrOutcomeUnknown):
		return false
	case e.exists:
		return errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode)
	default:
		return errors.Is(err, zk.ErrNodeExists)
	}
}

// sendExpecting makes one request. A transaction of a check and a set is looked
// up by nobody else after a lost reply: framework's versioned Set would take
// the same bytes of another client for its own.
func (r *replica) sendExpecting(ctx context.Context, e expected, data []byte) (*snapshot, error) {
	switch {
	case !e.exists:
		return r.create(ctx, data)
	case e.version < anyVersion: // transactions do not take it
		stat, err := r.client.Set(ctx, r.path, data, e.version)
		return written(data, stat, err)
	default:
		return r.transact(ctx, data, framework.CheckOp(r.path, e.version))
	}
}

// transact writes data in a transaction behind other operations.
func (r *replica) transact(ctx context.Context, data []byte, before ...framework.TxnOp) (*snapshot, error) {
	results, err := r.client.Transaction(ctx, append(before, framework.SetOp(r.path, data, anyVersion))...)
	if err != nil {
		return nil, err
	}
	return present(data, results[len(results)-1].Stat), nil
}

func written(data []byte, stat *zk.Stat, err error) (*snapshot, error) {
	if err != nil {
		return nil, err
	}
	return present(data, stat), nil
}

func (r *replica) create(ctx context.Context, data []byte) (*snapshot, error) {
	made, err := r.client.Create(ctx, r.path, data, framework.WithParents())
	if err != nil {
		return nil, err
	}
	return present(data, &zk.Stat{Czxid: made.Czxid, Mzxid: made.Czxid}), nil
}

// resolve finds out what has become of a request by the node. If the node was
// created, deleted or written more than once, nothing tells.
func (e expected) resolve(now *snapshot, data []byte, unique bool) fate {
	ours := now.exists && bytes.Equal(now.data, data)
	sameNode := e.exists && now.exists && now.czxid == e.czxid
	switch {
	case sameNode && now.version == e.version:
		return notApplied // also if the data is the same: it was there before
	case ours && unique:
		return applied
	case !sameNode:
		return unknown
	case !ours && e.next(now.version):
		return notApplied // the next request says so, too: with BadVersion
	}
	return unknown
}

// set writes data, whatever is there, and returns the node as it is then.
func (r *replica) set(ctx context.Context, data []byte) (*snapshot, error) {
	if err := r.ended(); err != nil {
		return nil, err
	}
	for {
		base := r.latest()
		s, err := r.do(ctx, attempt{
			send:    func(ctx context.Context) (*snapshot, error) { return r.transact(ctx, data) },
			resolve: func(now *snapshot) fate { return resolveSet(base, now, data) },
		})
		if errors.Is(err, zk.ErrNoNode) && !errors.Is(err, framework.ErrOutcomeUnknown) {
			s, err = r.do(ctx, attempt{
				send:    func(ctx context.Context) (*snapshot, error) { return r.create(ctx, data) },
				resolve: func(now *snapshot) fate { return resolveSet(nil, now, data) },
			})
			if errors.Is(err, zk.ErrNodeExists) && !errors.Is(err, framework.ErrOutcomeUnknown) {
				continue
			}
		}
		if err == nil {
			r.keep(ctx, s)
		}
		return s, err
	}
}

// resolveSet finds out what has become of a request that writes data over
// whatever is there. If the node has the data, it does not matter who has
// written it. If it was not written at all since base was known, then not by
// us. Otherwise ours may have been overwritten.
func resolveSet(base, now *snapshot, data []byte) fate {
	switch {
	case now.exists && bytes.Equal(now.data, data):
		return applied
	case base != nil && base.exists && now.exists && now.mzxid == base.mzxid:
		return notApplied
	default:
		return unknown
	}
}
