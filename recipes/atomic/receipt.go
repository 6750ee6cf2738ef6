package atomic

import (
	"crypto/rand"
	"fmt"
	"math"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/znode"
)

// receipt is an ephemeral node of this cell alone. Each write writes its number
// there, in the same transaction. So the receipt tells whether a write was
// applied, whoever has written the node meanwhile.
type receipt struct {
	path    string // empty if there is none
	session int64
	version int32
}

// lastVersion is the last one of a receipt. The one behind it is negative, and
// in the end there is one that stands for any.
const lastVersion = math.MaxInt32

// takeReceipt gives the write a receipt, if they were asked for. It makes one
// if there is none in this session.
func (w *write) takeReceipt() error {
	if w.cfg.receipts == "" {
		return nil
	}
	c := w.cell
	if c.receipt.path == "" || c.receipt.session != w.client.SessionID() || c.receipt.version == lastVersion {
		w.dropReceipt()
		path := znode.Join(w.cfg.receipts, "receipt-"+rand.Text())
		created, err := w.client.Create(w.ctx, path, numberBytes(0),
			framework.WithMode(framework.Ephemeral), framework.WithParents())
		if err != nil {
			framework.Extend(w.client).DeleteInBackground(path) // the reply may be lost; the next receipt has another name
			return fmt.Errorf("receipt %s: %w", path, withoutOp(err))
		}
		w.setReceipt(receipt{path: path, session: created.Session.ID()})
	}
	w.number++
	r := c.receipt
	w.receipt = &r
	return nil
}

// used notes that the write has used the receipt.
func (w *write) used() {
	if w.receipt != nil {
		next := *w.receipt
		next.version++
		w.setReceipt(next)
	}
}

// dropReceipt gives the receipt up, if there is one. Without it, no attempt
// that still is on its way can be applied.
func (r *round) dropReceipt() {
	c := r.cell
	if c.receipt.path != "" {
		framework.Extend(c.client).DeleteInBackground(c.receipt.path)
		r.setReceipt(receipt{})
	}
}

func (c *cell) setReceipt(now receipt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.receipt = now
}
