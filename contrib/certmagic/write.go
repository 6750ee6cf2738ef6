package certmagic

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
)

// maxTries bounds how often a write is tried: a try fails if the connection ends, or if
// other processes write the same key at the same time.
const maxTries = 10

var errNoKey = errors.New("the key must not be empty")

// Store sets the value of a key, whether the key had a value or not. Other processes
// see either the old value or the new one. A nil value is stored as an empty one.
//
// The value must fit into one request of about a mebibyte. Store does not send a larger
// value, and the error matches framework.ErrRequestTooLarge.
//
// If a lost lock guards the key, the error matches ErrLockLost. If it also matches
// framework.ErrOutcomeUnknown, an earlier try may have stored the value, while the
// lock was still held. Any other error that matches framework.ErrOutcomeUnknown
// means that the value may be stored.
func (s *Storage) Store(ctx context.Context, key string, value []byte) error {
	at := partsOf(key)
	err := errNoKey
	if len(at) > 0 {
		err = s.put(withoutCause(ctx), at, dataOf(value))
	}
	if err != nil {
		return failed(ctx, "store", key, err)
	}
	return nil
}

func (s *Storage) put(ctx context.Context, at parts, data []byte) (err error) {
	p := s.pathOf(at)
	set := framework.SetOp(p, data, framework.AnyVersion)
	create := framework.CreateOp(p, data, framework.WithACL(s.acl),
		framework.WithPersistentParents(), framework.WithParentACL(s.acl))
	for range maxTries {
		if err = s.write(ctx, at, set); code(err) != noNode || ctx.Err() != nil {
			return err
		}
		err = s.write(ctx, at, create)
		if code(err) != nodeExists && code(err) != noNode { // noNode if folders vanish
			return err
		}
	}
	return err
}

// Delete deletes a key and all keys below it, the lowest first. If the key does not
// exist, Delete returns nil. A Delete that fails may have deleted some of the keys.
//
// If a lost lock guards one of the keys, that key stays, and the error matches
// ErrLockLost. If the error matches framework.ErrOutcomeUnknown, the key may be
// deleted. Delete refuses the key "", because all keys are below it.
func (s *Storage) Delete(ctx context.Context, key string) error {
	at := partsOf(key)
	err := errNoKey
	if len(at) > 0 {
		err = s.remove(withoutCause(ctx), at, s.pathOf(at))
	}
	if err != nil {
		return failed(ctx, "delete", key, err)
	}
	return nil
}

func (s *Storage) remove(ctx context.Context, at parts, path string) (err error) {
	for range maxTries {
		err = s.write(ctx, at, framework.DeleteOp(path, framework.AnyVersion))
		switch code(err) {
		case noNode:
			return nil
		case notEmpty:
		default:
			return err
		}
		if err := s.removeBelow(ctx, at, path); err != nil {
			return err
		}
	}
	return err
}

// removeBelow deletes everything below a node that was not empty a moment ago. The
// server itself has just answered so, and need not catch up first.
func (s *Storage) removeBelow(ctx context.Context, at parts, path string) error {
	names, _, err := s.client.Children(ctx, path)
	if err != nil && code(err) != noNode {
		return err
	}
	for _, name := range names {
		component, ok := unescape(name)
		if !ok {
			component = name // not a key, but Delete must remove it, too
		}
		if err := s.remove(ctx, at.below(component), path+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

// write carries out an operation on the node of a key, on condition that the locks that
// guard the key are held. If the reply is lost, write repeats the operation: only the
// final state of the node counts.
func (s *Storage) write(ctx context.Context, at parts, op framework.TxnOp) (err error) {
	var unknown error // the error of a try that may have been applied
	for range maxTries {
		err = s.try(ctx, at, op)
		if err != nil && unknown != nil && !is(err, framework.ErrOutcomeUnknown) {
			//nolint:errorlint // callers need only the code of err
			return fmt.Errorf("%w, after a try that may have succeeded (%v): %w", err, unknown, framework.ErrOutcomeUnknown)
		}
		if !is(err, framework.ErrOutcomeUnknown) || ctx.Err() != nil {
			return err
		}
		unknown = err
	}
	return err
}

func (s *Storage) try(ctx context.Context, at parts, op framework.TxnOp) error {
	guards, lost := s.guardsOf(at)
	if lost != nil {
		return lost
	}
	var ops []framework.TxnOp
	for _, g := range guards {
		ops = append(ops, g.checks...)
	}
	_, err := s.client.Transaction(ctx, append(ops, op)...)
	return refused(err, guards)
}
