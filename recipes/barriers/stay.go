package barriers

import (
	"context"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Members of a round leave in two steps. Each marks its own node, by emptying
// its data, when Leave is called. The first member that is still there waits
// until all others are marked or gone, and then deletes the nodes of all in one
// transaction. If a node vanishes before, its member was lost, or did not wait.
// One that does not wait is noted in the round before its node is deleted; see
// resign.

// stayer is what the goroutine of a member knows of its round.
type stayer struct {
	*Passage
	present []string  // the members of the round at the last look, in order
	left    stringSet // members that have left without waiting, or are marked

	tried  bool // our own node may be marked
	marked bool // our own node is marked
	behind bool // another one was to end the round

	mayTell, told bool // a node may say that we resign, and certainly does
}

// stay stays until all members have left. Each look waits for one change.
func (s *stayer) stay(ctx context.Context) error { return s.follow(ctx, s.look) }

func (s *stayer) look(ctx context.Context) error {
	if s.marked {
		return s.leaveInOrder(ctx)
	}
	return s.beInside(ctx)
}

// beInside watches the other members, until one of them goes or Leave is called.
func (s *stayer) beInside(ctx context.Context) error {
	names, _, watch, err := s.client.ChildrenW(ctx, s.path)
	if err == nil {
		defer watch.Stop()
	}
	if err := s.see(names, err); err != nil {
		return err
	}
	if err := s.lookForLosses(ctx); err != nil {
		return err
	}
	s.loop.Recovered()
	select {
	case <-s.life.Stopped().Done():
		return s.mark(ctx, watch)
	case <-watch.Done():
		s.pause(ctx)
		return nil
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}

// mark tells the others that this member leaves, and waits for the first change
// after that: most often, it is the end of the round. If our node is gone, the
// next listing tells why.
func (s *stayer) mark(ctx context.Context, change *framework.Watch) error {
	s.tried = true
	if _, err := s.client.Set(ctx, s.node.Path, nil, framework.AnyVersion); err != nil {
		return ignore(err, zk.ErrNoNode)
	}
	s.marked = true
	if s.present[0] == s.name {
		return s.end(ctx)
	}
	s.loop.Recovered()
	_, err := change.Wait(ctx)
	return err
}

// pause waits after the news of a change among the nodes, so that many members
// that arrive while the round is inside do not cost a listing by each of the
// round for each of them. All members of the round together list no more than
// 200 times in a second, or each of them once. Leave and the end of the session
// end the pause.
func (s *stayer) pause(ctx context.Context) {
	select {
	case <-time.After(min(time.Duration(len(s.round))*pausePerMember, longestPause)):
	case <-s.life.Stopped().Done():
	case <-ctx.Done():
	}
}

const (
	pausePerMember = 5 * time.Millisecond
	longestPause   = time.Second
)

// leaveInOrder waits until this member is the first one of the round, and then
// ends the round. It may as well be out because another one has done that. Each
// member watches the one ahead of it: arrivals do not touch that node, and one
// that goes wakes one other.
func (s *stayer) leaveInOrder(ctx context.Context) error {
	names, _, err := s.client.Children(ctx, s.path)
	if err := s.see(names, err); err != nil {
		return err
	}
	ahead := slices.Index(s.present, s.name)
	if ahead == 0 {
		return s.end(ctx)
	}
	s.behind = true
	return s.awaitGone(ctx, s.present[ahead-1])
}

// see notes which members a listing shows. If this one is not there, it is
// out: the end of the round deletes the nodes of all members at once.
func (s *stayer) see(names []string, err error) error {
	if ignore(err, zk.ErrNoNode) != nil {
		return err
	}
	s.present = those(s.round, set(names).has)
	switch {
	case slices.Contains(s.present, s.name):
		return nil
	case s.tried && len(s.present) == 0:
		return follow.ErrDone
	}
	return ErrNodeDeleted
}

// lookForLosses ends the work if another member was lost.
func (s *stayer) lookForLosses(ctx context.Context) error {
	if s.ctx.Err() != nil || len(s.missing()) == 0 {
		return nil
	}
	if err := s.learn(ctx); err != nil {
		return err
	}
	if lost := s.missing(); len(lost) > 0 && s.ctx.Err() == nil {
		err := &MemberLostError{Path: s.path, Members: lost}
		s.cancel(err)
		s.events.Emit(eventLost(len(lost)), err)
	}
	return nil
}

// missing returns the members that are gone, and are not known to have left.
func (s *stayer) missing() []string {
	there := set(s.present)
	return those(s.round, func(name string) bool { return !there[name] && !s.left[name] })
}

// learn notes which members have left, as the round says.
func (s *stayer) learn(ctx context.Context) error {
	r, _, err := s.readRounds(ctx)
	for _, name := range r.of(s.name).Left {
		s.left[name] = true
	}
	return err
}

// end ends the round when all members that are still there have left. This
// member is the first of them. If one of them goes meanwhile, it looks again.
func (s *stayer) end(ctx context.Context) error {
	if err := s.takeOver(ctx); err != nil {
		return err
	}
	if err := s.awaitMarks(ctx); err != nil {
		return err
	}
	var ops []framework.TxnOp
	for _, name := range s.present {
		ops = append(ops, framework.DeleteOp(s.child(name), framework.AnyVersion))
	}
	if _, err := s.client.Transaction(ctx, ops...); err != nil {
		return ignore(err, zk.ErrNoNode)
	}
	return follow.ErrDone
}

// takeOver learns from one that was to end the round, and has resigned, who has
// left, so that the marks of all need not be read again.
func (s *stayer) takeOver(ctx context.Context) error {
	if !s.behind {
		return nil
	}
	err := ignore(s.learn(ctx), zk.ErrNoNode, ErrForeignData) // the nodes tell all the same
	s.behind = err != nil
	return err
}
