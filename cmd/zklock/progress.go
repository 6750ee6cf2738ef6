package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/cmd/zklock/internal/terminal"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/inspect"
)

// note writes a line to stderr if -v is given. A caller that protects the lock must act
// first, and call note afterwards.
func (e *env) note(format string, args ...any) {
	if e.verbose {
		fmt.Fprintf(e.err, "zklock: "+format+"\n", args...)
	}
}

const (
	// progressEvery is the time between two reads of the queue. Each read costs the
	// server a few requests, so zklock reads only if a person sees the progress.
	progressEvery = 2 * time.Second

	// progressDepth is how many participants are read each time.
	progressDepth = 20

	// progressSettles is how long zklock, with the lock already held, waits for a
	// blocked terminal, as after Ctrl-S.
	progressSettles = 100 * time.Millisecond
)

// showWaiting keeps one line on a terminal up to date during a wait for a lock. The
// returned function removes the line, before a command can write to the terminal.
func showWaiting(ctx context.Context, e *env, c *framework.Client, path string) (done func()) {
	tty := fileOf(e.err)
	if !terminal.Is(tty) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		begin := time.Now()
		shown := false
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				if shown {
					fmt.Fprint(e.err, "\r\x1b[K")
					e.settle(progressSettles)
				}
				return
			case <-tick.C:
				line := waitingLine(ctx, c, path) + ", waiting for " + inSeconds(time.Since(begin))
				fmt.Fprint(e.err, "\r\x1b[K"+clip(line, terminal.Width(tty)-1))
				shown = true
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// waitingLine describes the queue as this client sees it.
func waitingLine(ctx context.Context, c *framework.Client, path string) string {
	ctx, cancel := context.WithTimeout(ctx, progressEvery)
	defer cancel()
	for r, err := range inspect.Walk(ctx, c, path, inspect.WithDepth(0), inspect.WithMaxParticipants(progressDepth)) {
		if err == nil && len(r.Holders) > 0 {
			return describeQueue(r, c.SessionID(), time.Now())
		}
	}
	return path + ": " + c.State().String()
}

// describeQueue returns a text with the number of contenders ahead, the holder, and the
// age of the holder's node.
func describeQueue(r inspect.Recipe, own int64, now time.Time) string {
	ahead := ""
	if r.Unread > 0 {
		ahead = fmt.Sprintf("more than %d ahead, ", progressDepth)
	}
	for _, p := range r.Waiters {
		if p.Session == own {
			ahead = fmt.Sprintf("%d ahead, ", p.Position)
			break
		}
	}
	holder := r.Holders[0]
	line := fmt.Sprintf("%s: %sheld by %s", r.Path, ahead, cmp.Or(holder.ID, "unknown"))
	if !holder.Since.IsZero() {
		line += ", there for " + inSeconds(now.Sub(holder.Since))
	}
	return line
}

// inSeconds is a duration for people. Clocks may differ a little.
func inSeconds(d time.Duration) string { return max(0, d).Round(time.Second).String() }

// clip cuts a line at the edge of the terminal, because a wrapped line could not be
// removed.
func clip(line string, width int) string {
	if width <= 0 {
		return line
	}
	return columns.Cut(line, width)
}
