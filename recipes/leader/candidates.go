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

// Leadership returns the lease of the present leadership, or nil. It is nil, too,
// if the leadership has ended and its work goes on. It does not contact the
// server. The answer may be old when it arrives: the lease's context knows.
func (e *election) Leadership() *locks.Lease {
	if now := e.current(); now != nil && now.lease.Context().Err() == nil {
		return now.lease
	}
	return nil
}

// Leader returns the candidate that leads, or is about to. If there is no
// candidate, the error is ErrNoLeader.
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
		if err := follow.Pause(ctx, queue.Client(), &vanished); err != nil { // it has left (CURATOR-358)
			return locks.Participant{}, queue.ErrorOf(op, err)
		}
	}
}

// Participants returns the candidates in the order of the queue, the leader
// first.
func (e *election) Participants(ctx context.Context) ([]locks.Participant, error) {
	all, err := e.queue.Participants(ctx)
	var participants []locks.Participant
	for _, p := range all {
		participants = append(participants, locks.Participant(p))
	}
	return participants, err
}

// HandOver passes the leadership on to the next in line, in an orderly way. It
// asks the work to finish, by Lease.Revoked; Latch.Lead ends the work's context,
// too, within the time of WithGrace. When ctx ends, the leadership ends with
// locks.ErrRevoked.
//
// HandOver returns nil when the leadership is given up, or lost, and its node is gone.
// If ctx ends before that, HandOver returns ctx's error. It waits for the work of a
// Selector, and for Latch.Lead's unless ctx ends. Called with the leadership's own
// context, it asks and does not wait. It is an error in these cases:
//
//   - There is no other candidate: ErrNoSuccessor. The leader goes on. A candidate
//     that has died stands until its session has timed out.
//   - This candidate does not lead: ErrNotLeader. That is also so if the connection
//     was interrupted, under state.StandardPolicy, before the leader was asked. A
//     latch may lead again with the same node then.
//   - The node may stay: the server refuses to delete it, or one of the other
//     errors that "How a call ends a node" in the index of the recipes lists.
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

// await waits until a leadership is given up and its node is gone. The leader
// itself, whose context it gets, would wait for itself, so it does not wait. A
// leadership that was only interrupted is over as well, but its node stays and may
// lead again, so that nothing was given up.
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
	if !framework.IsRefusal(err) && (err != nil || now.node.Session.Context().Err() != nil) { // the release has left the node to the client
		err = e.deleteNode(ending.Context(), now.node)
	}
	return ending.Err(now.node.Session, err)
}
