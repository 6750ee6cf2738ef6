package atomic

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// write is one write of a node that must still be as it was in base. It finds out
// what has become of an attempt whose reply was lost.
//
// A node with the next version and the same data does not tell that the attempt was
// applied: two writers that both make 6 out of 5 leave the same bytes. The receipt
// tells, if there is one. Without it, the attempt is repeated as long as the node
// has the old version. All attempts ask for the same version, so at most one of
// them is applied, even if one arrives late.
type write struct {
	*call
	base *snapshot
	data []byte
}

// verdict is what has become of a write.
type verdict int

const (
	applied  verdict = iota
	conflict         // not applied: another client has changed the node
	again            // not applied, and never will be; another write may be
	refused          // not applied, because of an error that came with it
	lost             // nothing tells
	pending          // may be applied or not
	unsent           // there was no attempt
)

// settle makes attempts until it is known whether one was applied, or until nothing
// can tell. The error says why a write was refused or lost.
func (w *write) settle() (verdict, error) {
	doubt := false
	for {
		v, err := w.attempt(doubt)
		if v != pending {
			return v, err
		}
		doubt = true
		v, why := w.resolve()
		if why != nil {
			err = fmt.Errorf("%w, and then: %w", withoutOp(err), withoutOp(why))
		}
		var hangUp *framework.HangUpError
		if v == again && reason.As(err, &hangUp) {
			return refused, hangUp
		}
		if v != pending {
			return v, err
		}
		if ended := w.outlast(err); ended != nil {
			return lost, ended
		}
	}
}

// attempt makes the request once. doubt says that an earlier attempt may have been
// applied.
func (w *write) attempt(doubt bool) (verdict, error) {
	session, began := w.client.SessionID(), w.now()
	stat, err := w.send()
	w.noteRoundTrip(began)
	var failed *framework.TxnError
	switch {
	case err == nil:
		w.noteWritten(w.snapshotOf(session, w.data, stat), w.call)
		w.receipt.version++
		return applied, nil
	case reason.Is(err, framework.ErrOutcomeUnknown), doubt: // the earlier attempt may have changed the node
		return pending, err
	case !isChanged(err):
		return refused, err
	case reason.As(err, &failed) && failed.Index == 0: // another client has deleted or written the receipt
		w.dropReceipt()
		return again, nil
	default:
		return conflict, nil
	}
}

// send makes the request. The framework does not repeat it once it was sent.
func (w *write) send() (*zk.Stat, error) {
	if w.cfg.receipts == "" {
		return w.client.Set(w.ctx, w.path, w.data, w.base.version)
	}
	results, err := w.client.Transaction(w.ctx,
		framework.SetOp(w.receipt.path, w.receipt.used(), w.receipt.version),
		framework.SetOp(w.path, w.data, w.base.version))
	if err != nil {
		return nil, err
	}
	return results[1].Stat, nil
}

// resolve finds out what has become of the attempts so far. The verdict is pending
// if none was applied yet, and lost with the reason if nothing can tell.
//
// It uses the receipt itself, so that no attempt can be applied from then on. If an
// attempt was faster, the receipt tells that.
func (w *write) resolve() (verdict, error) {
	if w.cfg.receipts == "" {
		return w.judgeNode(pending)
	}
	isUsed := false
	err := w.recovery.Until(w.ctx, func(ctx context.Context) error {
		_, err := w.client.Set(ctx, w.receipt.path, w.receipt.void(), w.receipt.version)
		if isUsed = isChanged(err); isUsed {
			return nil
		}
		return err
	})
	now := &snapshot{exists: true, version: w.receipt.version + 1, data: w.receipt.void()}
	if isUsed {
		now, err = w.read(w.receipt.path, true)
	}
	switch {
	case err != nil:
		return lost, err
	case !now.exists: // no attempt can be applied any more
		w.dropReceipt()
		return w.judgeNode(again)
	case now.version != w.receipt.version+1:
		return lost, fmt.Errorf("%s has version %d now", w.receipt.path, now.version)
	}
	w.forget(false)
	isApplied := bytes.Equal(now.data, w.receipt.used())
	w.receipt.version++
	if isApplied {
		return applied, nil
	}
	return again, nil
}

// isChanged reports whether a node does not have the version that a write asks for.
func isChanged(err error) bool {
	return reason.Is(err, zk.ErrBadVersion) || reason.Is(err, zk.ErrNoNode)
}

// judgeNode judges by the node itself. It can be sure of two cases:
//
//   - If the node is as before, no attempt was applied yet. That is the verdict
//     unchanged.
//   - If the node was written once, with other data, another client has done that.
//
// If the node was written once with the same data, either may have done it. If it
// was written more often, this client may be among the writers.
func (w *write) judgeNode(unchanged verdict) (verdict, error) {
	now, err := w.readNode(true)
	switch {
	case err != nil:
		return lost, err
	case !now.exists || now.czxid != w.base.czxid:
		return lost, errors.New("node was deleted meanwhile")
	case now.version == w.base.version:
		return unchanged, nil
	case now.version == w.base.version+1 && !bytes.Equal(now.data, w.data):
		return conflict, nil
	default:
		return lost, fmt.Errorf("version is %d now", now.version)
	}
}

// receipt is an ephemeral node of one object in one session. Each write writes the
// receipt, too, in the same transaction. So the receipt tells whether the write was
// applied, whoever has written the node meanwhile.
type receipt struct {
	path    string // empty if there is none
	session int64
	version int32
}

// used is the receipt's data after the next write, and void if no attempt at it may
// be applied any more.
func (r receipt) used() []byte { return numberBytes(int64(r.version) + 1) }
func (r receipt) void() []byte { return numberBytes(-int64(r.version) - 1) }

func numberBytes(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// lastVersion is the last one of a receipt. The next one is negative, and in the end
// there is one that stands for any.
const lastVersion = math.MaxInt32

// takeReceipt makes a receipt, if there is none in this session and the option asks
// for one.
func (w *write) takeReceipt() error {
	r := w.receipt
	if w.cfg.receipts == "" || r.path != "" && r.session == w.client.SessionID() && r.version < lastVersion {
		return nil
	}
	w.dropReceipt()
	path := znode.Join(w.cfg.receipts, "receipt-"+rand.Text())
	created, err := w.client.Create(w.ctx, path, numberBytes(0),
		framework.WithMode(framework.Ephemeral), framework.WithParents())
	if err != nil {
		// The reply may be lost. The next receipt has another name.
		framework.Extend(w.client).DeleteInBackground(path)
		return fmt.Errorf("receipt %s: %w", path, withoutOp(err))
	}
	w.receipt = receipt{path: path, session: created.Session.ID()}
	return nil
}
