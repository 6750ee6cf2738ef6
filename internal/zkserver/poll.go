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
// up to lastInterval.
//
// A probe that hangs is given up after a time that begins at firstTimeout and
// doubles with each such probe, up to lastTimeout. A paused server lets all
// probes hang. A standalone server that has just begun to start lets a probe
// hang for ever, but answers the next one (ZOOKEEPER-5051).
const (
	firstInterval = 10 * time.Millisecond
	lastInterval  = 50 * time.Millisecond
	firstTimeout  = 200 * time.Millisecond
	lastTimeout   = 3200 * time.Millisecond
)

// errStopped is returned by poll when its stop channel is closed.
var errStopped = errors.New("stopped")

// poll calls probe until it returns nil, ctx ends or stop is closed. When ctx
// ends, the error unwraps to the cause of ctx and to the error of the last
// probe.
func poll(ctx context.Context, stop <-chan struct{}, probe func(context.Context) error) error {
	last := errors.New("not probed")
	interval, timeout := firstInterval, firstTimeout
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
		hung, err := probeOnce(ctx, timeout, probe)
		if err == nil {
			return nil
		}
		last = err
		if hung {
			timeout = min(timeout*2, lastTimeout)
		}
		interval = min(interval*3/2, lastInterval)
		timer.Reset(interval)
	}
}

// probeOnce runs the probe once. hung is true if the probe took the whole timeout.
func probeOnce(
	ctx context.Context, timeout time.Duration, probe func(context.Context) error,
) (hung bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = probe(ctx)
	return ctx.Err() != nil, err
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
