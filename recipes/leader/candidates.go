package leader

import (
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locks"
)

// Leadership returns the lease of the current leadership, or nil. It returns nil also if
// the leadership has ended and its work continues. Leadership sends no request. The
// leadership may end at any moment; the lease's context shows it.
func (e *election) Leadership() *locks.Lease {
	if now := e.current(); now != nil && now.lease.Context().Err() == nil {
		return now.lease
	}
	return nil
}

// Leader returns the candidate that leads or is about to lead. If there is no candidate,
// the error matches ErrNoLeader.
func (e *election) Leader(ctx context.Context) (locks.Participant, error) {
	return first(ctx, &e.queue)
}

// first returns the first candidate in a queue.
func first(ctx context.Context, queue *seat.Lock) (locks.Participant, error) {
	const op = "leader"
	vanished := pauses.Vanished()
	for {
		entries, err := queue.Entries(ctx, op)
		if err == nil && len(entries) == 0 {
			err = queue.ErrorOf(op, ErrNoLeader)
		}
		if err != nil {
			return locks.Participant{}, err
		}
		leader, err := queue.Read(ctx, entries[0])
		if !reason.Is(err, zk.ErrNoNode) {
			leader.Holder = err == nil
			return locks.Participant(leader), err
		}
		if err := follow.Pause(ctx, queue.Client(), &vanished); err != nil { // the candidate has left (CURATOR-358)
			return locks.Participant{}, queue.ErrorOf(op, err)
		}
	}
}

// Participants returns the candidates in the order of the queue, with the leader first.
func (e *election) Participants(ctx context.Context) ([]locks.Participant, error) {
	all, err := e.queue.Participants(ctx)
	var participants []locks.Participant
	for _, p := range all {
		participants = append(participants, locks.Participant(p))
	}
	return participants, err
}

// HandOver passes the leadership to the next candidate gracefully. HandOver asks the work
// to finish, by Lease.Revoked; Latch.Lead also ends the work's context within the time of
// WithGrace. If ctx ends before the work has returned, the leadership ends with
// locks.ErrRevoked.
//
// HandOver returns nil when the leadership has ended and its node is deleted. If ctx ends
// first, HandOver returns ctx's error; the work of a Selector keeps the node until it
// returns. Called with the leadership's own context, HandOver asks the work to finish and
// does not wait. The other errors are:
//
//   - ErrNoSuccessor: there is no other candidate, and the leader continues. A crashed
//     candidate counts until its session times out.
//   - ErrNotLeader: this candidate does not lead, or the connection was interrupted under
//     state.StandardPolicy before the leader was asked. In the second case, a latch may
//     lead again with the same node.
//   - The server refuses to delete the node, or another error that "How a call ends a
//     node" in the index of the recipes lists. The node may stay.
func (e *election) HandOver(ctx context.Context) error {
	const op = "hand over"
	now := e.current()
	if now == nil {
		return e.queue.ErrorOf(op, ErrNotLeader)
	}
	late := e.hasSuccessor(ctx, op)
	if late != nil && (ctx.Err() == nil || reason.Is(late, ErrNoSuccessor)) {
		return e.queue.ErrorOf(op, late)
	}
	now.hold.Seat().Request()
	err := e.await(ctx, now)
	if err != nil {
		now.hold.Lose(locks.ErrRevoked)
	}
	if late != nil && reason.IsOfContext(ctx, err) {
		err = fmt.Errorf("%w (last error: %w)", err, late)
	}
	return e.queue.ErrorOf(op, err)
}

// hasSuccessor returns ErrNoSuccessor if the leader is alone in the queue.
func (e *election) hasSuccessor(ctx context.Context, op string) error {
	entries, err := e.queue.Entries(ctx, op)
	if err == nil && len(entries) < 2 {
		return ErrNoSuccessor
	}
	return err
}

// await waits until a leadership has ended and its node is deleted. With the leadership's
// own context, await returns at once, because the leader would wait for itself. If the
// leadership was interrupted and its node may lead again, nothing was handed over, and
// await returns ErrNotLeader.
func (e *election) await(ctx context.Context, now *leadership) error {
	if seat.FromContext(ctx, e.queue.Key()) == now.hold {
		return nil
	}
	select {
	case <-now.hold.Seat().Over():
	case <-ctx.Done():
		return e.removal.GaveUp(ctx)
	}
	if now.hold.Seat().State() == seat.Kept {
		return ErrNotLeader
	}
	ending := e.removal.Ending(ctx, now.node.Session)
	defer ending.Done()
	err := now.hold.AwaitRelease(ending.Context())
	// Unless the server has refused, the client deletes the node in the background.
	if !framework.IsRefusal(err) && (err != nil || now.node.Session.Context().Err() != nil) {
		err = e.deleteNode(ending.Context(), now.node)
	}
	return ending.Err(now.node.Session, err)
}
