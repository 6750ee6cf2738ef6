package atomic

import (
	"bytes"
	"context"

	"github.com/gocurator/curator/framework"
)

// updating is what the tries of one Update have in common. A round reads it, and
// writes it before the try is over.
type updating struct {
	beaten int   // how often others were faster
	hold   *hold // a share of the lock, from a try that went on under it; or nil
}

// update changes a value by a function of the user, which makes a change of the
// data that it is called with, on the caller's goroutine. The change must be
// made only if the node still has that data.
//
// The data that it is called with are a guess. If they are wrong, the change is
// not made, and the next try has another guess. Only if the function fails, it
// is called with the data of that moment.
func update(ctx context.Context, c *cell, f func(data []byte) (change, error)) error {
	const op = "update"
	data, _, err := c.do(ctx, op, func(data []byte) step { return step{data: data, guess: true} })
	var u updating
	defer func() { c.dropShare(ctx, u.hold) }()
	fresh := false
	for err == nil {
		next, failed := f(data)
		if failed != nil && fresh {
			return failed
		}
		if failed != nil {
			// The function must not fail because of data that are out of date.
			guessed := data
			data, _, err = c.do(ctx, op, func(data []byte) step { return step{data: data} })
			if err == nil && bytes.Equal(data, guessed) {
				return failed
			}
			fresh = true
			continue
		}
		fresh = false
		var swapped bool
		if data, swapped, err = c.doTry(ctx, op, guessing(next), &u); swapped {
			return nil
		}
		if err == nil { // otherwise the try may be under way
			u.beaten++
		}
	}
	return err
}

// guessing is a change whose answer may be out of date, unless it writes or
// fails.
func guessing(of change) change {
	return func(data []byte) step {
		s := of(data)
		s.guess = !s.writes && s.err == nil
		return s
	}
}

// failed is the error of an operation with the node's data, or nil.
func (c *cell) failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return &framework.OpError{Op: op, Path: c.path, Err: err}
}

// refuse is the error of a call with a cell or an argument that cannot be used,
// or nil.
func (c *cell) refuse(op string, isNilFunction bool) error {
	if c == nil {
		return &framework.OpError{Op: op, Err: errNotMade}
	}
	fault := c.cfg.fault
	if fault == nil && isNilFunction {
		fault = isNil("function")
	}
	if fault == nil {
		return nil
	}
	return &framework.OpError{Op: op, Path: c.path, Err: fault}
}
