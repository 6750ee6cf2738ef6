package atomic

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// write is one write of a node that must still be as it was, through all of its
// attempts.
//
// A node with the next version and the same data does not tell that the write was
// applied: two writers that both make 6 out of 5 leave the same bytes. So this type
// judges what has become of each attempt, by the receipt if there is one.
//
// All attempts ask for the same version, so no more than one of them can be
// applied. An attempt that was lost, and arrives late, can do no harm.
type write struct {
	*round
	base    snapshot
	data    []byte
	receipt *receipt // nil without one
	doubt   bool     // an attempt may have been applied
}

// verdict is what has become of a write.
type verdict int

const (
	applied  verdict = iota
	conflict         // not applied: somebody else has changed the node
	again            // not applied, for reasons that have gone
	refused          // not applied, and never will be
	lost             // nothing tells
	pending          // not applied yet: repeat it
)

// do makes attempts until it is known what has become of them, or until nothing
// can tell. The error says why a write was refused or lost.
func (w *write) do() (verdict, error) {
	for {
		v, err := w.attempt()
		if v != pending {
			return v, err
		}
		if w.doubt {
			v, reason := w.resolve()
			if reason != nil {
				reason = fmt.Errorf("%w, and then: %w", withoutOp(err), withoutOp(reason))
			}
			if v != pending {
				return v, reason
			}
			if isHangUp(err) { // each attempt interrupts all other requests of the client
				return w.abandon(err)
			}
		}
		if err := w.outlast(err); err != nil {
			if w.doubt {
				return w.abandon(err)
			}
			return refused, err
		}
		if !w.doubt {
			return again, nil
		}
	}
}

func isHangUp(err error) bool { return reason.Is(err, &framework.HangUpError{}) }

// attempt makes the request once. The verdict is pending if its error does not
// tell what has become of the write.
func (w *write) attempt() (verdict, error) {
	session := w.client.SessionID()
	stat, err := w.send()
	var failed *framework.TxnError
	inTxn := reason.As(err, &failed)
	changed := reason.Is(err, zk.ErrBadVersion) || reason.Is(err, zk.ErrNoNode)
	switch {
	case err == nil:
		w.seen = snapshotOf(w.now(), session, w.data, stat)
		w.used()
		return applied, nil
	case reason.Is(err, framework.ErrOutcomeUnknown):
		w.doubt = true
	case changed && inTxn && failed.Index == 1:
		// The receipt was as it was before, so no attempt was applied.
		if w.doubt {
			w.dropReceipt() // for an attempt that may still be on its way
		}
		return conflict, nil
	case changed && w.doubt:
		// It may be an earlier attempt that has changed the node.
	case changed && inTxn:
		w.dropReceipt()
		_ = follow.Pause(w.ctx, w.client, &w.vanished) // if the round has ended, the next request says so
		return again, nil
	case changed:
		return conflict, nil
	}
	return pending, err
}

// send makes the request, which framework does not repeat once it was sent.
func (w *write) send() (*zk.Stat, error) {
	if w.receipt == nil {
		return w.client.Set(w.ctx, w.path, w.data, w.base.version)
	}
	results, err := w.client.Transaction(w.ctx,
		framework.SetOp(w.receipt.path, numberBytes(w.number), w.receipt.version),
		framework.SetOp(w.path, w.data, w.base.version))
	if err != nil {
		return nil, err
	}
	return results[1].Stat, nil
}

// resolve finds out what has become of earlier attempts.
func (w *write) resolve() (v verdict, why error) {
	err := w.until(func() error {
		if v, why = w.lookForOutcome(); v == lost {
			return nil // no other look can tell more
		}
		return why
	})
	if err != nil {
		return w.abandon(err)
	}
	return v, why
}

// abandon ends a write of which an attempt may have been applied, because of an
// error that waiting does not cure.
func (w *write) abandon(err error) (verdict, error) {
	if w.receipt == nil || w.ctx.Err() != nil {
		return lost, err
	}
	switch v, voidErr := w.void(); {
	case voidErr != nil:
		return lost, err
	case v == again:
		return refused, err
	default:
		return v, nil
	}
}

func (w *write) lookForOutcome() (verdict, error) {
	if w.receipt == nil {
		return w.judgeNode(false)
	}
	now, err := w.look(w.receipt.path, true)
	switch {
	case err != nil:
		return pending, err
	case !now.exists: // no attempt can be applied any more
		return w.judgeNode(true)
	case now.version == w.receipt.version:
		return w.judgeUnused()
	case now.version == w.receipt.version+1 && bytes.Equal(now.data, numberBytes(w.number)):
		w.forget()
		w.used()
		return applied, nil
	case now.version == w.receipt.version+1 && bytes.Equal(now.data, numberBytes(-w.number)):
		return w.voided()
	default:
		return lost, fmt.Errorf("%s has version %d now", w.receipt.path, now.version)
	}
}

// judgeUnused judges a write whose receipt was not used yet. It must not be
// repeated on another node that has the same version by chance.
func (w *write) judgeUnused() (verdict, error) {
	now, err := w.look(w.path, true)
	if err != nil || now.exists && now.czxid == w.base.czxid {
		return pending, err
	}
	return w.void()
}

// void sees to it that no attempt can be applied any more, also one that is
// still on its way: it uses the receipt. If an attempt was faster, the receipt
// tells that.
func (w *write) void() (verdict, error) {
	_, err := w.client.Set(w.ctx, w.receipt.path, numberBytes(-w.number), w.receipt.version)
	switch {
	case err == nil:
		return w.voided()
	case reason.Is(err, zk.ErrBadVersion), reason.Is(err, zk.ErrNoNode):
		return w.lookForOutcome() // this server has seen what has become of it
	}
	return pending, err
}

func (w *write) voided() (verdict, error) {
	w.forget()
	w.used()
	return again, nil
}

// judgeNode judges by the node itself. It can be sure of these:
//
//   - If the node is as before, no attempt was applied yet.
//   - If it was written once, with other data, another writer has done that.
//
// If it was written once with the same data, it may have been either, and if
// it was written more often, ours may have been among the writes.
func (w *write) judgeNode(over bool) (verdict, error) {
	now, err := w.look(w.path, true)
	sameNode := now.exists && now.czxid == w.base.czxid
	switch {
	case err != nil:
		return pending, err
	case sameNode && now.version == w.base.version && over:
		w.dropReceipt()
		return again, nil
	case sameNode && now.version == w.base.version:
		return pending, nil
	case sameNode && now.version == w.base.version+1 && !bytes.Equal(now.data, w.data):
		return conflict, nil
	case sameNode:
		return lost, fmt.Errorf("version is %d now", now.version)
	default:
		return lost, errors.New("node was deleted meanwhile")
	}
}

func numberBytes(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
