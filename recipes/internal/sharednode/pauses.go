package sharednode

import (
	"context"
	"time"

	"github.com/gocurator/curator/internal/reason"
)

// The pauses while the node cannot be read grow up to these.
const (
	LongestOfOutage  = 5 * time.Second
	LongestOfTrouble = 30 * time.Second

	shortestPause = 100 * time.Millisecond
)

// Pauses grow until they are reset. The zero value begins with a short one.
type Pauses struct{ last time.Duration }

// Reset makes the next pause a short one.
func (p *Pauses) Reset() { p.last = 0 }

// Wait pauses, and returns ctx's error if ctx ends first.
func (p *Pauses) Wait(ctx context.Context, longest time.Duration) error {
	p.last = min(max(2*p.last, shortestPause), longest)
	t := time.NewTimer(p.last)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}
