package atomic

import (
	"log/slog"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/locks"
)

// promote waits for the lock of those who were beaten too often. It excludes
// only others that hold it, so the versions still decide, and the loss of the
// lock does no harm.
func (r *round) promote() error {
	lease, err := locks.NewInterProcessMutex(r.client, r.cfg.lockPath).Acquire(r.ctx)
	if err != nil {
		if err := r.outlast(err); err != nil {
			return r.refused(err)
		}
		return nil
	}
	r.lease = lease
	r.tracePromotion()
	return nil
}

func (r *round) demote() {
	if r.lease != nil {
		_ = r.lease.Release(r.ctx) // a lease that was lost needs no release
	}
}

func (c *cell) logUnknown(err error) {
	e := framework.Extend(c.client)
	e.Logger().Warn("outcome of a write is unknown",
		slog.String(semconv.ZNodePath, e.FullPath(c.path)), slog.Any(semconv.Cause, err))
}
