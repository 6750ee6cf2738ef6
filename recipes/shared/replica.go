package shared

import (
	"context"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/sharednode"
)

// replica is what this process knows of the node. One goroutine, in live, reads
// the node again and again. Writes tell of what they have done.
type replica struct {
	sharednode.Node
	events event.Source
	seed   []byte
	unique bool // see WithUniqueData

	life         follow.Life
	loop         follow.Loop // live's
	waitForHooks func()      // live's

	mu     sync.Mutex           // protects the following fields
	now    *sharednode.Snapshot // nil until something is known
	synced bool                 // live has read the node, and created it if it was missing
}

func newReplica(client *framework.Client, path string, seed []byte, cfg config) (*replica, error) {
	r := &replica{
		Node: sharednode.Node{Client: client, Path: path}, events: event.Of(client, path),
		seed: seed, unique: cfg.uniqueData, waitForHooks: func() {},
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
	stop := context.AfterFunc(r.life.Stopped(), func() { cancel(ErrClosed) })
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
