package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
)

// clock is the JSON of a comparison of clocks.
type clock struct {
	Type string `json:"type"` // "clock"

	// Offset is how far the server's clock is ahead, give or take Uncertainty.
	Offset      *view.Seconds `json:"offset_seconds,omitempty"`
	Uncertainty *view.Seconds `json:"uncertainty_seconds,omitempty"`
	Error       string        `json:"error,omitempty"` // why it is not known
}

// time compares the clocks. It is not known if the client may not create nodes.
func (d *doctor) time(ctx context.Context, c *framework.Client) error {
	offset, half, err := clockOffset(ctx, c)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return d.fact("clock", "not compared: "+err.Error(), clock{Type: "clock", Error: err.Error()})
	}
	if offset.Abs() > tolerableOffset+half {
		d.find(finding{What: "clocks differ", Text: fmt.Sprintf("ages are wrong by %v", offset.Round(time.Millisecond))})
	}
	o, u := view.SecondsOf(offset), view.SecondsOf(half)
	text := fmt.Sprintf("the server is %v ahead, give or take %v", offset.Round(time.Millisecond), half.Round(time.Millisecond))
	if offset < 0 {
		text = fmt.Sprintf("the server is %v behind, give or take %v", -offset.Round(time.Millisecond), half.Round(time.Millisecond))
	}
	return d.fact("clock", text, clock{Type: "clock", Offset: &o, Uncertainty: &u})
}

// clockOffset returns how far the server's clock is ahead of this machine's,
// give or take half the time of a round trip. The server puts its time on each
// node that it creates, and tells it in no other way.
func clockOffset(ctx context.Context, c *framework.Client) (offset, half time.Duration, err error) {
	begin := time.Now()
	n, err := c.Create(ctx, "/zklock-doctor-", nil, framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
	end := time.Now()
	if err != nil {
		return 0, 0, err
	}
	defer c.Delete(context.WithoutCancel(ctx), n.Path, framework.AnyVersion, framework.WithGuarantee())
	_, stat, err := c.Exists(ctx, n.Path)
	if err != nil || stat == nil {
		return 0, 0, err
	}
	half = end.Sub(begin)/2 + time.Millisecond // the server rounds down
	return time.UnixMilli(stat.Ctime).Sub(begin.Add(end.Sub(begin) / 2)), half, nil
}
