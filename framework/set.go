package framework

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// SetOption configures a Set.
type SetOption func(*setAttempts)

// IdempotentSet makes a Set succeed if the node has the next version and this data already, whoever has written it: the
// same call made a second time, after its process was restarted or its result was lost on the way to the user.
// It needs the right to read the node.
func IdempotentSet() SetOption {
	return func(w *setAttempts) { w.idempotent = true }
}

// Set writes a node's data if the node has the given version, and returns its new Stat. AnyVersion always matches.
//
// A missing node is zk.ErrNoNode, another version zk.ErrBadVersion. If the connection breaks while the reply is
// awaited, a write with AnyVersion is repeated, and one with a version is looked up: it counts as done if the node has
// the next version and this data, and is repeated if the node still has the old version. Otherwise, and if ctx ends
// while the reply is awaited, the error matches ErrOutcomeUnknown. Whoever may write the same data over the same version
// as somebody else, as two who count up a number do, must put something into the data that tells them apart.
func (c *Client) Set(ctx context.Context, path string, data []byte, version int32, opts ...SetOption) (*zk.Stat, error) {
	w := setAttempts{path: c.full(path), data: data, version: version}
	if err := apply(&w, opts); err != nil {
		return nil, &OpError{"set", path, err}
	}
	var stat *zk.Stat
	err := c.write(ctx, "set", path, func(error) bool { return w.inDoubt }, func(ctx context.Context, s *Session) (err error) {
		stat, err = w.attempt(ctx, s)
		return err
	})
	return stat, err
}

// setAttempts are the attempts at one Set.
type setAttempts struct {
	path       string
	data       []byte
	version    int32
	idempotent bool
	inDoubt    bool // an earlier attempt may have been applied
}

func (w *setAttempts) attempt(ctx context.Context, s *Session) (*zk.Stat, error) {
	if w.inDoubt && w.version != AnyVersion {
		if stat, err := w.findOut(ctx, s); stat != nil || err != nil {
			return stat, err
		}
	}
	stat, err := setData(ctx, s, w.path, w.data, w.version)
	if w.idempotent && errors.Is(err, zk.ErrBadVersion) {
		return w.acceptEqual(ctx, s, err)
	}
	w.inDoubt = w.inDoubt || ambiguous(err) // a missing node, too, may have been deleted with our data
	return stat, err
}

// findOut returns the node's Stat if an earlier attempt has been applied, and nothing if none has.
func (w *setAttempts) findOut(ctx context.Context, s *Session) (*zk.Stat, error) {
	now, err := afterSync(ctx, s, w.path, getData)
	switch {
	case err != nil:
		return nil, err // a missing node, too, may have been deleted with our data
	case now.stat.Version == w.version:
		w.inDoubt = false
		return nil, nil
	case w.isDone(now):
		return now.stat, nil
	default:
		return nil, unknownOutcome(fmt.Errorf("version is %d now", now.stat.Version))
	}
}

// isDone reports whether the node is as our write leaves it.
func (w *setAttempts) isDone(now dataAndStat) bool {
	return now.stat.Version == w.version+1 && bytes.Equal(now.data, w.data)
}

// acceptEqual turns a conflict of versions into success if somebody has done the same. The server that reported the
// conflict has seen the write that caused it, so there is no need for a sync.
func (w *setAttempts) acceptEqual(ctx context.Context, s *Session, conflict error) (*zk.Stat, error) {
	now, err := getData(ctx, s, w.path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil, conflict
	case err != nil:
		return nil, err
	case w.isDone(now):
		return now.stat, nil
	}
	return nil, conflict
}
