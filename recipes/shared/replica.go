package shared

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/sharednode"
	"github.com/gocurator/curator/state"
)

// replica has the latest snapshot of the node that this Value knows. One goroutine, in
// live, reads the node whenever it may have changed. Writes add their own results.
//
// A write uses up the watch, so live reads the node after each write. A persistent watch
// would not save that read: servers before 3.9 do not say which write an event is about,
// and the event of a write arrives before the reply.
type replica struct {
	sharednode.Node
	events event.Source
	seed   []byte

	life follow.Life
	loop follow.Loop // live's

	mu     sync.Mutex           // protects the following fields
	now    *sharednode.Snapshot // the latest; nil until there is one
	synced bool                 // live has read the node, and created it if it was missing
}

func newReplica(client *framework.Client, path string, seed []byte) (*replica, error) {
	r := &replica{
		Node: sharednode.Node{Client: client, Path: path}, events: event.Of(client, path),
		seed: seed,
	}
	r.loop.Recovery = follow.Recovery{
		Client: client, What: "shared value", About: r.events.Path,
		Survives: follow.RefusedCredentials, // no other client relies on this Value
	}
	r.life = follow.Life{Client: client, Closed: ErrClosed, Run: r.live, Finish: r.finish, GaveUp: r.loop.GaveUp}
	if err := r.life.Start(); err != nil {
		return r, err
	}
	return r, nil
}

// latest returns the latest snapshot, or nil.
func (r *replica) latest() *sharednode.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// wasRead reports whether live has read the node. A Refresh may have read the node
// before that, but does not create it.
func (r *replica) wasRead() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.synced
}

// untilClosed returns a context for the requests of a call, which ends with ctx or with
// the Value. The caller must call done with the error of the requests. If the Value has
// ended them, the result matches the reason for the Value's end.
func (r *replica) untilClosed(ctx context.Context) (calling context.Context, done func(error) error) {
	calling, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.life.Over(), func() { cancel(r.life.Err()) })
	return calling, func(err error) error {
		stop()
		cancel(nil)
		if over := r.life.Err(); over != nil && ctx.Err() == nil && reason.Is(err, context.Canceled) {
			return fmt.Errorf("%w: %w", over, err)
		}
		return err
	}
}

// readResult says what to do after a read.
type readResult int

const (
	accepted  readResult = iota // the latest snapshot is as new as the read
	unordered                   // the latest snapshot has changed during the read: read again
	doubtful                    // the read is older than the latest snapshot: ask the server to catch up, and read again
)

// accept takes the snapshot s of a read if s is newer than the latest snapshot. base is
// the latest snapshot when the read began. A read after a sync is right even if it is
// older: the ensemble was set back.
func (r *replica) accept(s, base *sharednode.Snapshot, afterSync bool) (v readResult, setBack bool) {
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

// wrote takes the snapshot after a write of this Value, and reports whether its order
// relative to the latest snapshot is certain.
func (r *replica) wrote(s *sharednode.Snapshot) (certain bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.IsAfter(r.now) {
		r.takeLocked(s)
		return true
	}
	return s.Same(r.now) || s.IsBefore(r.now)
}

// takeLocked replaces the latest snapshot.
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

// live reads the node, and reads it again whenever the watch has fired or the connection
// was interrupted. It returns the error that ends the Value.
func (r *replica) live(ctx context.Context) error {
	var watch *framework.Watch
	defer func() { stopWatch(watch) }()
	r.loop.Look = func(inSession context.Context, _ *framework.Session) error {
		next, interrupted, err := r.look(inSession)
		stopWatch(watch) // not before: while a next watch waits, the server's watch is not removed
		if watch = next; err != nil {
			return err
		}
		r.noteRead()
		select {
		case <-watch.Done():
		case <-interrupted: // also closed by the end of the session, which the next read notices
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

// look reads the node and sets a watch for its next change. The channel is closed when
// the connection is interrupted after the read.
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

// readW reads the node, and sets a watch for its next change. If the node does not exist,
// readW creates it with the seed if orSeed is true, and sets a watch for its creation
// otherwise.
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

// warnOf logs a deletion of the node, and an ensemble that was set back.
func (r *replica) warnOf(now, base *sharednode.Snapshot, v readResult, setBack bool) {
	switch {
	case v != accepted || now.Same(base):
	case setBack:
		r.events.Emit(eventSetBack, nil)
	case !now.Exists && base != nil:
		r.events.Emit(eventDeleted, nil)
	}
}

// changes yields the latest snapshot and each later snapshot. If the Value ends, the last
// element has the error.
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
