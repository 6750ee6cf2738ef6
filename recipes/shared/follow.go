package shared

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/state"
)

// live follows the node until stop or the client ends, or an error does. Its
// requests do not wait for a tracer.
func (r *replica) live(client, stop context.Context) {
	defer close(r.done)
	ctx, cancel := context.WithCancel(client)
	defer cancel()
	defer context.AfterFunc(stop, cancel)()
	unblocked := ctx
	if framework.Extend(r.client).Tracer() != nil {
		teller := framework.Extend(r.client).NewTeller()
		unblocked = teller.Context(ctx)
		defer teller.Wait(ctx)
	}
	err := r.follow(unblocked)
	switch {
	case stop.Err() != nil:
		err = ErrClosed
	case client.Err() != nil:
		err = framework.ErrClosed
	default:
		r.log().Warn("shared value ends", r.logPath(), slog.Any(semconv.Cause, err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = r.errorOf("follow", err)
	r.tellLocked()
}

// follow reads the node, and again whenever its watch has fired, and when the
// connection was interrupted. It returns the error that ends it.
func (r *replica) follow(ctx context.Context) error {
	var watch *framework.Watch
	defer func() { stopWatch(watch) }()
	var pauses pauses
	for {
		next, interrupted, err := r.look(ctx)
		stopWatch(watch) // not before: the next one joins it, if it has not fired
		if watch = next; err == nil {
			pauses.reset()
			r.noteRead()
			select {
			case <-watch.Done():
			case <-interrupted:
			case <-ctx.Done():
				return reason.OfContext(ctx)
			}
		} else if err = r.outlast(ctx, &pauses, err); err != nil {
			return err
		}
	}
}

func stopWatch(w *framework.Watch) {
	if w != nil {
		w.Stop()
	}
}

// look takes what the node is now, with a watch for what follows. The channel
// is closed when the connection is interrupted after that.
func (r *replica) look(ctx context.Context) (w *framework.Watch, interrupted <-chan struct{}, err error) {
	defer func() {
		if err != nil {
			stopWatch(w)
			w = nil
		}
	}()
	for caughtUp := false; ; {
		s, err := r.client.Session(ctx)
		if err != nil {
			return w, nil, err
		}
		interrupted = s.Trusted(state.StandardPolicy).Done()
		base := r.latest()
		now, next, err := r.readW(ctx, !r.wasRead())
		stopWatch(w)
		if w = next; err != nil {
			return w, nil, err
		}
		v, setBack := r.accept(now, base, caughtUp)
		r.warnOf(now, base, v, setBack)
		switch v {
		case accepted:
			return w, interrupted, nil
		case doubtful:
			if err := r.client.Sync(ctx, r.path); err != nil {
				return w, nil, err
			}
			caughtUp = true
		}
	}
}

// createSeed creates the node with the seed. It is no error if somebody else
// does.
func (r *replica) createSeed(ctx context.Context) error {
	_, err := r.client.Create(ctx, r.path, r.seed, framework.WithParents())
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// readW reads the node, and sets a watch for its next change. If it does not
// exist, the watch is for its creation, or it is created with the seed.
func (r *replica) readW(ctx context.Context, orSeed bool) (*snapshot, *framework.Watch, error) {
	for {
		data, stat, watch, err := r.client.GetW(ctx, r.path)
		if err == nil {
			return present(data, stat), watch, nil
		}
		if !errors.Is(err, zk.ErrNoNode) {
			return nil, nil, err
		}
		if orSeed {
			if err := r.createSeed(ctx); err != nil {
				return nil, nil, err
			}
			continue
		}
		asked := r.client.LastZxid()
		there, _, watch, err := r.client.ExistsW(ctx, r.path)
		if err != nil {
			return nil, nil, err
		}
		if !there {
			return absent(asked, r.client.LastZxid()), watch, nil
		}
		watch.Stop()
	}
}

// outlast waits until it is time to try again after an error. It returns the
// error if waiting does not cure it.
func (r *replica) outlast(ctx context.Context, p *pauses, err error) error {
	if ctx.Err() != nil {
		return reason.OfContext(ctx)
	}
	if !isCurable(err) {
		return err
	}
	r.noteTrouble(err)
	switch {
	case errors.Is(err, framework.ErrSessionLost), errors.Is(err, framework.ErrNotConnected):
		return nil // the next look waits for the connection
	case framework.IsConnectionError(err):
		return p.pause(ctx, longestOfOutage)
	}
	if !p.warned {
		p.warned = true
		r.log().Warn("shared value is tried again after an error", r.logPath(), slog.Any(semconv.Cause, err))
	}
	return p.pause(ctx, longestOfTrouble)
}

// isCurable reports whether waiting may cure an error. The parents of a node
// may be missing because the server deletes them when they are empty.
func isCurable(err error) bool {
	switch {
	case errors.Is(err, framework.ErrClosed):
		return false
	case errors.Is(err, zk.ErrAuthFailed), errors.Is(err, zk.ErrNoNode):
		return true
	default:
		return !framework.IsRefusal(err)
	}
}

// noteTrouble takes down why the node cannot be read, for those who wait.
func (r *replica) noteTrouble(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = err
}

func (r *replica) noteRead() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = nil
	if !r.synced {
		r.synced = true
		r.tellLocked()
	}
}

// warnOf logs what an operator may want to know.
func (r *replica) warnOf(now, base *snapshot, v verdict, setBack bool) {
	switch {
	case v != accepted || now.same(base):
	case setBack:
		r.log().Warn("zookeeper has gone back to an older state, and the shared value with it", r.logPath())
	case !now.exists && base != nil:
		r.log().Warn("shared value was deleted by somebody else", r.logPath())
	}
}

func (r *replica) log() *slog.Logger { return framework.Extend(r.client).Logger() }

func (r *replica) logPath() slog.Attr {
	return slog.String(semconv.ZNodePath, framework.Extend(r.client).FullPath(r.path))
}

// The pauses while the node cannot be read grow up to these.
const (
	shortestPause    = 100 * time.Millisecond
	longestOfOutage  = 5 * time.Second
	longestOfTrouble = 30 * time.Second
)

// pauses grow until they are reset.
type pauses struct {
	last   time.Duration
	warned bool // the log has a warning since the reset
}

func (p *pauses) reset() { *p = pauses{} }

// pause waits, and returns ctx's error if ctx ends first.
func (p *pauses) pause(ctx context.Context, longest time.Duration) error {
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
