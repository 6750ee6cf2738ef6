package framework

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// Set writes a node's data if the node has the given version, and returns its new Stat. AnyVersion always matches.
//
// A missing node is zk.ErrNoNode, another version zk.ErrBadVersion. If the connection breaks while the reply is
// awaited, a write with AnyVersion is repeated, and one with a version is looked up: it counts as done if the node has
// the next version and this data, and is repeated if the node still has the old version. Otherwise, and if ctx ends
// while the reply is awaited, the error matches ErrOutcomeUnknown. Whoever may write the same data over the same version
// as somebody else, as two who count up a number do, must put something into the data that tells them apart.
func (c *Client) Set(ctx context.Context, path string, data []byte, version int32) (*zk.Stat, error) {
	w := setAttempts{path: c.full(path), data: data, version: version}
	var stat *zk.Stat
	err := c.do(ctx, "set", path, func(ctx context.Context, s *Session) (err error) {
		stat, err = w.attempt(ctx, s)
		return err
	})
	return stat, stillInDoubt(ctx, w.inDoubt, err)
}

// setAttempts are the attempts at one Set.
type setAttempts struct {
	path    string
	data    []byte
	version int32
	inDoubt bool // an earlier attempt may have been applied
}

func (w *setAttempts) attempt(ctx context.Context, s *Session) (*zk.Stat, error) {
	if w.inDoubt && w.version != AnyVersion {
		if stat, err := w.findOut(ctx, s); stat != nil || err != nil {
			return stat, err
		}
	}
	stat, err := setData(ctx, s, w.path, w.data, w.version)
	switch {
	case err == nil:
		return stat, nil
	case departed(ctx, err):
		return nil, unknownOutcome(err)
	case w.inDoubt && errors.Is(err, zk.ErrNoNode):
		return nil, unknownOutcome(err) // deleted since, with or without our data
	case ambiguous(err):
		w.inDoubt = true
	}
	return nil, err
}

// findOut returns the node's Stat if an earlier attempt has been applied, and nothing if none has.
func (w *setAttempts) findOut(ctx context.Context, s *Session) (*zk.Stat, error) {
	now, err := afterSync(ctx, s, w.path, getData)
	switch {
	case err != nil && !errors.Is(err, zk.ErrNoNode):
		return nil, err
	case err != nil:
		return nil, unknownOutcome(err) // deleted since, with or without our data
	case now.stat.Version == w.version:
		w.inDoubt = false
		return nil, nil
	case now.stat.Version == w.version+1 && bytes.Equal(now.data, w.data):
		return now.stat, nil
	default:
		return nil, unknownOutcome(fmt.Errorf("version is %d now", now.stat.Version))
	}
}

// departed reports whether a request was sent and then left alone because ctx ended.
func departed(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, errNotSent)
}

// stillInDoubt says so when an operation failed for reasons of its own after an attempt that may have been applied.
func stillInDoubt(ctx context.Context, inDoubt bool, err error) error {
	var opErr *OpError
	if !inDoubt || !unfinished(ctx, err) || errors.Is(err, ErrOutcomeUnknown) || !errors.As(err, &opErr) {
		return err
	}
	return &OpError{opErr.Op, opErr.Path, unknownOutcome(opErr.Err)}
}

func unknownOutcome(err error) error {
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
}
