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

// write is one write of a node on condition that the node is unchanged since base. If the
// reply to an attempt is lost, the write finds out whether the attempt was applied.
//
// A node with the next version and the data of the attempt does not prove that the attempt
// was applied: if two clients both replace 5 by 6, their bytes are equal. The receipt, if
// there is one, proves it. Without a receipt, the attempt is repeated as long as the node
// has the old version. All attempts have the same condition, so at most one of them is
// applied, even if an attempt arrives late.
type write struct {
	*call
	base *snapshot
	data []byte
}

// outcome is the outcome of a write.
type outcome int

const (
	applied  outcome = iota
	conflict         // not applied: another client has changed the node
	again            // not applied, and never will be; a new write may succeed
	refused          // not applied: the server has returned an error
	lost             // unknown for good
	pending          // unknown so far
	unsent           // there was no attempt
)

// settle makes attempts until the outcome is known, or is lost. The error says why a
// write was refused, or why its outcome was lost.
func (w *write) settle() (outcome, error) {
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
		if ended := w.retryAfter(err); ended != nil {
			return lost, ended
		}
	}
}

// attempt sends the request once. doubt means that an earlier attempt may have been
// applied.
func (w *write) attempt(doubt bool) (outcome, error) {
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

// send sends the request. Package framework does not repeat a request that was sent.
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

// resolve finds out the outcome of the attempts so far. The outcome is pending if no
// attempt was applied yet.
//
// With a receipt, resolve writes the receipt itself, so that no attempt can be applied
// after that. If an attempt was faster, the receipt has the data of the attempt.
func (w *write) resolve() (outcome, error) {
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
	case !now.exists: // no attempt can be applied from now on
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

// judgeNode derives the outcome from the node itself. Two cases are certain:
//
//   - If the node is unchanged, no attempt was applied yet, and judgeNode returns the
//     outcome unchanged.
//   - If the node was written once, with other data, another client has written it.
//
// If the node was written once with the same data, this client or another may have
// written it. If the node was written more often, this client may be among the writers.
func (w *write) judgeNode(unchanged outcome) (outcome, error) {
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

// receipt is an ephemeral node of one object in one session. Each write also writes the
// receipt, in the same transaction. So the receipt shows whether the write was applied,
// even if other clients have written the node since.
type receipt struct {
	path    string // empty if there is none
	session int64
	version int32
}

// used is the receipt's data after the next write. void is its data if no attempt of that
// write may be applied from now on.
func (r receipt) used() []byte { return numberBytes(int64(r.version) + 1) }
func (r receipt) void() []byte { return numberBytes(-int64(r.version) - 1) }

func numberBytes(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// lastVersion is the last version of a receipt. Later versions are negative, and finally
// -1, which stands for any version.
const lastVersion = math.MaxInt32

// takeReceipt creates a receipt, if receipts are on and there is none in this session.
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
