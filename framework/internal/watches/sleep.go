package watches

import (
	"context"
	"time"
)

// sleep makes a pause that ctx may end.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
