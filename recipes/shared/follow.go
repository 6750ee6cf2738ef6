package shared

import (
	"context"
	"log/slog"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/sharednode"
	"github.com/gocurator/curator/state"
)

// live follows the node until stop or the client ends, or an error does. The
// requests do not wait for a hook.
func (r *replica) live(client, stop context.Context) {
	defer close(r.done)
	ctx, cancel := context.WithCancel(client)
	defer cancel()
	defer context.AfterFunc(stop, cancel)()
	unblocked := ctx
	if framework.Extend(r.Client).HasHooks() {
		teller := framework.Extend(r.Client).NewTeller()
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
	ctx = framework.Extend(r.Client).OnTrouble(ctx, r.noteTrouble)
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
				r.trace(ReadAgain)
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
		s, err := r.Client.Session(ctx)
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
			if err := r.Client.Sync(ctx, r.Path); err != nil {
				return w, nil, err
			}
			caughtUp = true
		}
	}
}

// readW reads the node, and sets a watch for its next change. If it does not
// exist, the watch is for its creation, or it is created with the seed.
func (r *replica) readW(ctx context.Context, orSeed bool) (*sharednode.Snapshot, *framework.Watch, error) {
	if orSeed {
		return r.ReadSeeded(ctx, r.seed, true)
	}
	return r.ReadW(ctx)
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
	case reason.Is(err, framework.ErrSessionLost), reason.Is(err, framework.ErrNotConnected):
		return nil // the next look waits for the connection
	case framework.IsConnectionError(err):
		return p.Wait(ctx, sharednode.LongestOfOutage)
	}
	if !p.warned {
		p.warned = true
		r.log().Warn("shared value is tried again after an error", r.logPath(), slog.Any(semconv.Cause, err))
	}
	return p.Wait(ctx, sharednode.LongestOfTrouble)
}

// isCurable reports whether waiting may cure an error. The parents of a node
// may be missing because the server deletes them when they are empty.
func isCurable(err error) bool {
	switch {
	case reason.Is(err, framework.ErrClosed):
		return false
	case reason.Is(err, zk.ErrAuthFailed), reason.Is(err, zk.ErrNoNode):
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
func (r *replica) warnOf(now, base *sharednode.Snapshot, v verdict, setBack bool) {
	switch {
	case v != accepted || now.Same(base):
	case setBack:
		r.log().Warn("zookeeper has gone back to an older state, and the shared value with it", r.logPath())
	case !now.Exists && base != nil:
		r.log().Warn("shared value was deleted by somebody else", r.logPath())
	}
}

func (r *replica) log() *slog.Logger { return framework.Extend(r.Client).Logger() }

func (r *replica) logPath() slog.Attr {
	return slog.String(semconv.ZNodePath, framework.Extend(r.Client).FullPath(r.Path))
}

// pauses grow until they are reset.
type pauses struct {
	sharednode.Pauses
	warned bool // the log has a warning since the reset
}

func (p *pauses) reset() { *p = pauses{} }
