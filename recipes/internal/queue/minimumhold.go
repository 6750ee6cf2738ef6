package queue

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/identity"
)

// A lock with a minimum hold stays for that long from its grant, also if its
// holder releases it sooner. Nobody gets it meanwhile, and no goroutine of this
// process either: the turn keeps its place. One goroutine owns the node then, and
// deletes it when the time is over. If the client is closed, it leaves the node
// to the servers.

// HasMinimumHold reports whether the lock stays for a while after a release.
func (q *Queue) HasMinimumHold() bool { return q.cfg.MinimumHold > 0 }

// stayUntil is when the minimum hold is over.
func (t *turn) stayUntil() time.Time { return t.since.Add(t.of.cfg.MinimumHold) }

// holdAtLeast begins the minimum hold, if there is one: the end of the client
// spares the node.
func (t *turn) holdAtLeast() {
	if t.of.HasMinimumHold() {
		n := t.claim.Nodes()[0]
		t.unkeep = insider.Of(t.of.cfg.Client).KeepUntil(n.Session.ID(), n.Path, t.stayUntil())
	}
}

// waive ends the minimum hold of a lock that is given up or lost. A client that
// is closed has spared the node already, or is about to.
func (t *turn) waive() {
	if t.unkeep != nil && framework.Extend(t.of.cfg.Client).Context().Err() == nil {
		t.unkeep()
	}
}

// mustStay reports whether the minimum hold is not over.
func (t *turn) mustStay() bool { return t.of.HasMinimumHold() && time.Now().Before(t.stayUntil()) }

// stay keeps a lock that its holder releases. It reports false if the lock is
// lost, or if somebody has asked for it: then it goes with the release.
func (t *turn) stay(ctx context.Context, from *claim.Claim) bool {
	next := from.Unattended()
	if next == nil {
		return false
	}
	complete := false
	defer func() {
		if !complete { // the user's code has panicked, such as a retry policy
			next.Retire()
		}
	}()
	r := &rest{turn: t, claim: next, unkeep: t.unkeep}
	t.claim = next
	r.tell(ctx, from)
	complete, t.unkeep = true, nil
	if !framework.Extend(t.of.cfg.Client).Go(r.run) { // the client is closed
		r.turn.Free()
	}
	return true
}

// rest is a lock that was released, for the rest of its minimum hold.
type rest struct {
	turn   *turn
	claim  *claim.Claim // has no share: nobody works under it
	unkeep func()
	retell func(ctx context.Context) // tells others of the release, if the release itself could not; or nil
}

// tell lets the goroutines of this process and, by the data of the node, all
// others know that the lock was released and stays. Run does the second if this
// release cannot wait for it: its context has ended, or there is no connection. Any
// other error does not matter, because the data is for people. If somebody has
// written the node before, that is a request to give the lock up, which run reads.
// After a lost reply, the write is made again over the same version: it is refused if
// the first one was applied.
func (r *rest) tell(ctx context.Context, from *claim.Claim) {
	of, h := r.turn.of, holdingOf(r.claim)
	defer func() { r.turn.queue.noteAlone(h) }()
	if of.cfg.ExactData {
		return
	}
	data := identity.Kept(r.claim.Data(), r.turn.stayUntil())
	h.seen.HolderData = data
	path := r.claim.Nodes()[0].Path
	write := func(ctx context.Context) error {
		const unwritten = 0
		_, err := of.cfg.Client.Set(ctx, path, data, unwritten)
		return err
	}
	under, done := from.DuringRelease(ctx)
	defer done()
	if err := write(under); err != nil && !framework.IsRefusal(err) {
		recovery := follow.Recovery{Client: of.cfg.Client, Ends: framework.IsRefusal}
		r.retell = func(ctx context.Context) { _ = recovery.Until(ctx, write) } // nobody waits to hear why it has ended
	}
}

// run waits until the minimum hold is over, and deletes the node.
func (r *rest) run(ctx context.Context) {
	if r.retell != nil {
		waiting, over := context.WithCancel(ctx)
		defer over()
		framework.Extend(r.turn.of.cfg.Client).Go(func(context.Context) { r.retell(waiting) })
	}
	if r.await(ctx) {
		r.giveUp()
		return
	}
	r.turn.Free()
}

// await returns when the minimum hold is over, or somebody asks for the lock, or
// the node is lost. It reports false if the client is closed.
func (r *rest) await(ctx context.Context) bool {
	timer := time.NewTimer(time.Until(r.turn.stayUntil()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.claim.Requested():
		return true
	case <-ctx.Done():
		return false
	case <-r.claim.Context().Done():
		cause := r.claim.Loss()
		r.claim.Lose(cause) // under state.StandardPolicy, nothing else does after an interruption
		return !reason.Is(cause, framework.ErrClosed)
	}
}

// giveUp deletes the node, and frees the place. If the session is lost, the
// servers delete the node.
func (r *rest) giveUp() {
	r.unkeep()
	r.turn.Free()
	r.claim.Retire()
}
