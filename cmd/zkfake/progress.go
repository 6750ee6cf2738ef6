package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// showProgress prints a line every so often, until ctx ends. A line about an
// interval in which nothing was asked for would tell nothing, and is left out.
func showProgress(ctx context.Context, w io.Writer, s *servers, every time.Duration) {
	if every == 0 {
		<-ctx.Done()
		return
	}
	begin, before := time.Now(), 0
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_, total := s.requests()
		if total == before {
			continue
		}
		fmt.Fprintf(w, "after %v: %d requests (%d new), %d sessions, %d watches, %d nodes\n",
			time.Since(begin).Round(time.Second), total, max(total-before, 0),
			len(s.sessions()), len(s.watches()), len(s.newest().Tree()))
		before = total
	}
}
