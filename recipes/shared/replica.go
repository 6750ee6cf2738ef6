package shared

import (
	"context"
	"iter"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/sharednode"
	"github.com/gocurator/curator/state"
)

// replica is what this process knows of the node. One goroutine, in live, reads
// the node again and again. Writes tell of what they have done.
type replica struct {
	sharednode.Node
	events event.Source
	seed   []byte

	life follow.Life
	loop follow.Loop // live's

	mu     sync.Mutex           // protects the following fields
	now    *sharednode.Snapshot // nil until something is known
	synced bool                 // live has read the node, and created it if it was missing
}

func newReplica(client *framework.Client, path string, seed []byte) (*replica, error) {
	r := &replica{
		Node: sharednode.Node{Client: client, Path: path}, events: event.Of(client, path),
		seed: seed,
	}
	r.loop.Recovery = follow.Recovery{
		Client: client, What: "shared value", About: r.events.Path,
		Outlasts: follow.RefusedCredentials, // nobody else relies on what this process knows
	}
	r.life = follow.Life{Client: client, Closed: ErrClosed, Run: r.live, Finish: r.finish, GaveUp: r.loop.GaveUp}
	if err := r.life.Start(); err != nil {
		return r, err
	}
	return r, nil
}

// latest returns what is known, or nil.
func (r *replica) latest() *sharednode.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// wasRead reports whether live has read the node. A Refresh may have done so
// before, which does not create it.
func (r *replica) wasRead() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.synced
}

// untilClosed returns a context for the requests of a call. It ends with ctx,
// and with the Value. The caller must call done.
func (r *replica) untilClosed(ctx context.Context) (calling context.Context, done func()) {
	calling, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.life.Over(), func() { cancel(r.life.Err()) })
	return calling, func() {
		stop()
		cancel(nil)
	}
}

// verdict says what follows a read.
type verdict int

const (
	accepted  verdict = iota // what is known is as new as the read
	unordered                // what is known has changed during the read: read again
	doubtful                 // older than what was known before: ask the server to catch up, and read again
)

// accept takes what a read has seen, if it is newer than what is known. Base is
// what was known when the read began. After a sync, what was read is true even
// if it is older: the ensemble was set back.
func (r *replica) accept(s, base *sharednode.Snapshot, afterSync bool) (v verdict, setBack bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case s.Same(r.now):
		if !s.Exists {
			r.now = sharednode.Absent(max(s.From, r.now.From), max(s.To, r.now.To))
		}
		return accepted, false
	case s.IsAfter(r.now):
	case r.now != base && s.IsBefore(r.now):
		return accepted, false
	case r.now != base:
		return unordered, false
	case !afterSync:
		return doubtful, false
	default:
		setBack = s.Exists && r.now.Exists
	}
	r.takeLocked(s)
	return accepted, setBack
}

// wrote takes what a write of ours has left, and reports whether the order of
// that and of what is known is certain.
func (r *replica) wrote(s *sharednode.Snapshot) (certain bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.IsAfter(r.now) {
		r.takeLocked(s)
		return true
	}
	return s.Same(r.now) || s.IsBefore(r.now)
}

// takeLocked takes a snapshot for what is known.
func (r *replica) takeLocked(s *sharednode.Snapshot) {
	if r.now != nil {
		r.events.Emit(eventChanged, nil)
	}
	r.now = s
	r.life.Tell()
}

func (r *replica) finish(why error) {
	if r.life.UnlessWanted(why) != nil {
		r.events.Emit(eventEnds, why)
	}
	r.life.End(why)
}

// live reads the node, and again whenever its watch has fired, and when the
// connection was interrupted. It returns the error that ends it.
func (r *replica) live(ctx context.Context) error {
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

// changes yields what is known, and each later state. An error is the last
// element.
func (r *replica) changes(ctx context.Context) iter.Seq2[*sharednode.Snapshot, error] {
	return func(yield func(*sharednode.Snapshot, error) bool) {
		var told *sharednode.Snapshot
		next := func() (now *sharednode.Snapshot, news bool) {
			synced, now := r.wasRead(), r.latest()
			if !synced || now.Same(told) {
				return nil, false
			}
			told = now
			return now, true
		}
		follow.Changes(ctx, &r.life, next, r.ended)(yield)
	}
}
