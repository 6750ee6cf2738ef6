package shared

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/sharednode"
	"github.com/gocurator/curator/state"
)

// live follows the node until ctx ends, or an error ends it. The requests do
// not wait for a hook.
func (r *replica) live(ctx context.Context) error {
	if teller := insider.Of(r.Client).NewTeller(); teller != nil {
		r.waitForHooks = func() { teller.Wait(ctx) }
		return r.follow(teller.Context(ctx))
	}
	return r.follow(ctx)
}

func (r *replica) finish(why error) {
	if r.life.UnlessWanted(why) != nil {
		r.events.Emit(eventEnds, why)
	}
	r.life.End(why)
	r.waitForHooks()
}

// follow reads the node, and again whenever its watch has fired, and when the
// connection was interrupted. It returns the error that ends it.
func (r *replica) follow(ctx context.Context) error {
	var watch *framework.Watch
	defer func() { stopWatch(watch) }()
	r.loop.Look = func(inSession context.Context, _ *framework.Session) error {
		next, interrupted, err := r.look(inSession)
		stopWatch(watch) // not before: the next one joins it, if it has not fired
		if watch = next; err != nil {
			return err
		}
		r.noteRead()
		select {
		case <-watch.Done():
		case <-interrupted: // the end of the session closes it, too; the next look notices that
			r.events.Emit(eventReadAgain, nil)
		case <-ctx.Done():
			return reason.OfContext(ctx)
		}
		return nil
	}
	return r.loop.Run(ctx)
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

func (r *replica) noteRead() {
	r.loop.Recovered()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.synced {
		r.synced = true
		r.life.Tell()
	}
}

// warnOf logs what an operator may want to know.
func (r *replica) warnOf(now, base *sharednode.Snapshot, v verdict, setBack bool) {
	switch {
	case v != accepted || now.Same(base):
	case setBack:
		r.events.Emit(eventSetBack, nil)
	case !now.Exists && base != nil:
		r.events.Emit(eventDeleted, nil)
	}
}
