package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// revocationMarker is what Curator's Revoker writes into the node of a holder (LockInternals.REVOKE_MESSAGE).
var revocationMarker = []byte("__REVOKE__")

// Revoke asks the owner of a lock's node, as a rule that of the holder from Participants, to give the lock up. It does
// not wait, and it forces nothing: the owner is told if it looks out for that, as a Go holder does with Revocable or
// Lease.Revoked, and a Java holder with makeRevocable. What the node said of its owner is overwritten. A node that is gone
// is no error.
func Revoke(ctx context.Context, c *framework.Client, nodePath string) error {
	_, err := c.Set(ctx, nodePath, revocationMarker, framework.AnyVersion)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
