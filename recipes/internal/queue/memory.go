package queue

import (
	"container/list"
	"context"
	"slices"
	"time"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// An acquire may end before it has seen the server's queue, or the data of the
// holder's node: its creation of a node takes a round trip, too. Its error says
// what goroutines of this process have seen before.

// note records the state of the server's queue, and whether it keeps everybody
// out, or only those that want the lock alone. A look that is answered late may
// name a holder of ours that has just given up: that is no news, and note reports
// false.
func (q *localQueue) note(r lockloop.NotAdmitted, everybody bool) (isNews bool) {
	if isNews = q.tryNote(r, everybody); !isNews {
		q.crowdForgets(r.Holder)
	}
	return isNews
}

// crowdForgets tells the crowd, if there is one, that a holder is none any more.
func (q *localQueue) crowdForgets(holder string) {
	q.mu.Lock()
	crowd := q.crowd
	q.mu.Unlock()
	if crowd != nil {
		crowd.Forget(holder)
	}
}

// sharing returns the crowd of those that share the lock.
func (q *localQueue) sharing() *lockloop.Crowd {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.crowd == nil {
		q.crowd = &lockloop.Crowd{}
	}
	return q.crowd
}

func (q *localQueue) tryNote(r lockloop.NotAdmitted, everybody bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if slices.Contains(q.gone, r.Holder) {
		return false
	}
	r.RecallHolder(q.seen)
	q.seen, q.keepsOut = r, everybody
	return true
}

// maxGone is how many nodes of ours are remembered that had the lock and were given
// up. A listing that is on its way may name one of those.
const maxGone = 4

func (q *localQueue) goneLocked(node string) {
	if len(q.gone) == maxGone {
		q.gone = slices.Delete(q.gone, 0, 1)
	}
	q.gone = append(q.gone, node)
}

// holding is one of us that has got the lock.
type holding struct {
	seen  lockloop.NotAdmitted // the queue at that moment
	by    holder               // its claim
	czxid int64                // its node's
}

// holder knows whether it has the lock still.
type holder interface {
	HasNodes() bool
	NodeDeleted()
}

func holdingOf(c *claim.Claim) *holding {
	node := c.Nodes()[0]
	r := ours(node, c.Data())
	r.Seen, r.Ahead = time.Now(), 1
	return &holding{r, c, node.Czxid}
}

// endGone ends what this client holds of the lock that h has just got, and that
// excludes h: another client has deleted the node, and no watch has told the holder
// of that yet. Of two holders, the one with the older node has lost it. The caller
// has noted h before, and passes the holder that it has replaced, or nil.
func (q *localQueue) endGone(h, replaced *holding, shared bool) {
	gone := q.rivalsOf(h, shared)
	if replaced.hasLock() {
		gone = append(gone, *replaced)
	}
	for _, other := range q.in.others(q) {
		gone = append(gone, other.rivalsOf(h, shared)...)
	}
	for _, rival := range gone {
		if rival.czxid > h.czxid {
			rival = *h
		}
		rival.by.NodeDeleted()
	}
}

// rivalsOf returns copies of those of us that have the lock, as far as they know, and
// cannot have it at the same time as h. A hand-over may replace the claim of one.
func (q *localQueue) rivalsOf(h *holding, shared bool) (rivals []holding) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.alone != h && q.alone.hasLock() {
		rivals = append(rivals, *q.alone)
	}
	for e := q.shared.Front(); e != nil && !shared; e = e.Next() {
		if one := e.Value.(*holding); one.hasLock() {
			rivals = append(rivals, *one)
		}
	}
	return rivals
}

// noteNext is noteAlone for a claim that has got the lock from another one of ours.
// Only the claim is another one, and the time.
func (q *localQueue) noteNext(t *turn) {
	if !q.tryNoteNext(t) {
		q.noteAlone(holdingOf(t.claim))
	}
}

func (q *localQueue) tryNoteNext(t *turn) bool {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.alone == nil || q.alone.seen.Holder != t.node {
		return false
	}
	q.alone.by, q.alone.seen.Seen = t.claim, now
	q.seen, q.keepsOut = q.alone.seen, true
	return true
}

// noteAlone is note for a claim of ours that has the lock alone. It returns the
// holder that was noted before, or nil.
func (q *localQueue) noteAlone(h *holding) (before *holding) {
	q.mu.Lock()
	before, q.alone = q.alone, h
	q.mu.Unlock()
	q.note(h.seen, true)
	return before
}

// noteShared is note for a claim of ours that shares the lock.
func (q *localQueue) noteShared(h *holding) *list.Element {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen, q.keepsOut = h.seen, false
	return q.shared.PushBack(h)
}

// forget drops the state of the server's queue if this node of ours has the
// lock there: the node is given up, unless it stays. Another of ours may share
// the lock.
func (q *localQueue) forget(holder string, shared *list.Element, stays bool) {
	defer q.crowdForgets(holder)
	q.mu.Lock()
	defer q.mu.Unlock()
	if !stays {
		q.goneLocked(holder)
	}
	if shared != nil {
		q.shared.Remove(shared)
	}
	if q.alone != nil && q.alone.seen.Holder == holder {
		q.alone = nil
	}
	if q.seen.Holder != holder {
		return
	}
	q.seen, q.keepsOut = lockloop.NotAdmitted{}, false
	if first := q.shared.Front(); first != nil {
		q.seen = first.Value.(*holding).seen
	}
}

// standing returns the newest that is known of the server's queue.
func (q *localQueue) standing() lockloop.NotAdmitted {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.standingLocked()
}

func (q *localQueue) standingLocked() lockloop.NotAdmitted {
	if q.seen.Seen.IsZero() {
		return q.beyondLocked()
	}
	return q.seen
}

// complete adds to the refusal of an acquire that has a place what others have
// seen. One that had no node yet is behind all others of ours. But one that
// would share the lock with them is not kept out by them.
func (q *localQueue) complete(r *lockloop.NotAdmitted, queued, shared bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if shared && r.Seen.IsZero() && !q.keepsOutSharedLocked(queued) {
		return
	}
	r.Recall(q.standingLocked())
	if !queued {
		r.Ahead = max(r.Ahead, q.used-1)
	}
}

// keepsOutSharedLocked reports whether one that shares the lock, and has not seen
// the queue, is known to be behind others that keep it out. One of ours that
// wants the lock alone comes before it, if it had its place before.
func (q *localQueue) keepsOutSharedLocked(queued bool) bool {
	return q.keepsOut || !queued && q.free < q.key.places()
}

// noteTrouble records an error that one of us at the server has outlasted, or
// with nil that all is well for it. Those behind it make no requests, so that
// they meet no trouble themselves. The end of its own ctx is none of theirs.
func (q *localQueue) noteTrouble(ctx context.Context, err error) {
	if reason.IsOfContext(ctx, err) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.trouble = err
}

// NoteBeyond records how things stand behind this lock, for the errors of those
// who do not get so far: its holder has seen another queue. It is for the
// holder of a lock that is Local.
func (q *Queue) NoteBeyond(r lockloop.NotAdmitted) {
	if local := localQueues.lookUp(*q.local); local != nil {
		local.noteBeyond(r)
	}
}

// NoteTroubleBeyond records an error that the holder has outlasted behind this
// lock, or with nil that all is well for it. It is for the holder of a lock that
// is Local, under its ctx.
func (q *Queue) NoteTroubleBeyond(ctx context.Context, err error) {
	if local := localQueues.lookUp(*q.local); local != nil {
		local.noteTrouble(ctx, err)
	}
}

func (q *localQueue) noteBeyond(r lockloop.NotAdmitted) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !r.Seen.IsZero() {
		r.Recall(q.beyondLocked())
	}
	q.beyond = &r
}

// Beyond returns what was recorded by NoteBeyond last.
func (q *Queue) Beyond() lockloop.NotAdmitted {
	local := localQueues.lookUp(*q.local)
	if local == nil {
		return lockloop.NotAdmitted{}
	}
	local.mu.Lock()
	defer local.mu.Unlock()
	return local.beyondLocked()
}

func (q *localQueue) beyondLocked() lockloop.NotAdmitted {
	if q.beyond == nil {
		return lockloop.NotAdmitted{}
	}
	return *q.beyond
}
