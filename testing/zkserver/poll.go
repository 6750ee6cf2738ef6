package zkserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// The pause between probes begins at firstInterval and grows by half each time,
// up to lastInterval. A probe that hangs, at a paused server for example, is
// given up after probeTimeout.
const (
	firstInterval = 10 * time.Millisecond
	lastInterval  = 50 * time.Millisecond
	probeTimeout  = 3 * time.Second
)

// errStopped is returned by poll when its stop channel is closed.
var errStopped = errors.New("stopped")

// poll calls probe until it returns nil, ctx ends or stop is closed. When ctx
// ends, the error unwraps to the cause of ctx and to the error of the last
// probe.
func poll(ctx context.Context, stop <-chan struct{}, probe func(context.Context) error) error {
	last := errors.New("not probed")
	interval := firstInterval
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), last)
		case <-stop:
			return errStopped
		case <-timer.C:
		}
		if last = probeOnce(ctx, probe); last == nil {
			return nil
		}
		interval = min(interval*3/2, lastInterval)
		timer.Reset(interval)
	}
}

func probeOnce(ctx context.Context, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return probe(ctx)
}

// tail returns the last n bytes of a file, or as many as it can read. It is for
// messages only.
func tail(name string, n int64) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > n {
		_, _ = f.Seek(-n, io.SeekEnd)
	}
	text, _ := io.ReadAll(io.LimitReader(f, n))
	return string(text)
}
