package barriers

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
)

// Members of a round leave in two steps. Each marks its own node, by emptying
// its data, when Leave is called. The first member that is still there waits
// until all others are marked or gone, and then deletes the nodes of all in one
// transaction. So a node that vanishes before is that of a member that was
// lost, or that did not wait: the latter is noted in the round before its node
// is deleted; see resign.

// stayer is what the goroutine of a member knows of its round.
type stayer struct {
	*Passage
	left   stringSet        // members that have left without waiting, or are marked
	names  []string         // of the nodes that were there at the last look
	watch  *framework.Watch // for a change of these, or nil
	marked bool             // our own node is
	tried  bool             // to mark it, so that it may be
	behind bool             // another one was to end the round
	lost   bool             // a member was

	told, mayTell bool // there is a node that says that we resign, or may be
}

// stay stays until all members have left.
func (s *stayer) stay(ctx context.Context) error { return s.follow(ctx, s.untilOut) }

// untilOut stays until this member is out, or a request fails.
func (s *stayer) untilOut(ctx context.Context) error {
	s.watch = nil // of an earlier call; it was stopped
	defer s.stopWatch()
	for {
		out, err := s.act(ctx)
		if out || err != nil {
			return err
		}
		s.loop.Recovered()
		leaving := s.leaving.Done()
		if s.marked {
			leaving = nil
		}
		select {
		case <-s.watch.Done():
			s.watch = nil
			s.pause(ctx)
		case <-leaving:
		case <-ctx.Done():
			return reason.OfContext(ctx)
		}
	}
}

// pause waits after the news of a change among the nodes, so that many members
// that arrive while the round is inside do not cost a listing by each of the
// round for each of them. All members of the round together list no more than
// 200 times in a second, or each of them once.
func (s *stayer) pause(ctx context.Context) {
	if s.leaving.Err() != nil { // the watch was for the end of the round
		return
	}
	t := time.NewTimer(min(time.Duration(len(s.round))*pausePerMember, longestPause))
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.leaving.Done():
	case <-ctx.Done():
	}
}

const (
	pausePerMember = 5 * time.Millisecond
	longestPause   = time.Second
)

// act does what is to be done now. It reports whether this member is out. If it
// is not, there is a watch for a change.
func (s *stayer) act(ctx context.Context) (out bool, err error) {
	for {
		if s.watch == nil {
			if out, err := s.list(ctx); out || err != nil {
				return out, err
			}
		}
		if s.leaving.Err() != nil && !s.marked {
			if err := s.mark(ctx); err != nil {
				return false, err
			}
			if !s.marked {
				s.stopWatch()
				continue
			}
		}
		if !s.marked || s.present()[0] != s.name {
			return false, nil
		}
		if out, err := s.close(ctx); out || err != nil {
			return out, err
		}
		s.stopWatch() // the nodes are others than we thought
	}
}

// list lists the nodes, with a watch. The member is out if its node is gone.
func (s *stayer) list(ctx context.Context) (out bool, err error) {
	c, path := s.barrier.client, s.barrier.path
	if s.marked {
		return s.listMarked(ctx)
	}
	s.names, _, s.watch, err = c.ChildrenW(ctx, path)
	if out, err = s.isOut(err); out || err != nil {
		return out, err
	}
	if s.leaving.Err() == nil && !s.lost {
		err = s.lookForLosses(ctx)
	}
	return false, err
}

// listMarked lists the nodes for a member that has left. The first member of the
// round that is there ends the round. Its node is gone then, or if it has gone
// itself, and the next one ends the round. So each watches the one ahead of it:
// arrivals do not touch that node, and one that goes wakes one other.
func (s *stayer) listMarked(ctx context.Context) (out bool, err error) {
	c, path := s.barrier.client, s.barrier.path
	for {
		s.names, _, err = c.Children(ctx, path)
		if out, err := s.isOut(err); out || err != nil {
			return out, err
		}
		present := s.present()
		place := slices.Index(present, s.name)
		if place == 0 {
			return false, nil // it ends the round itself
		}
		s.behind = true
		there, _, watch, err := c.ExistsW(ctx, s.barrier.child(present[place-1]))
		if err != nil {
			return false, err
		}
		if there {
			s.watch = watch
			return false, nil
		}
		watch.Stop()
	}
}

// isOut reports whether this member is out, after a listing. The end of the
// round deletes the nodes of all members at once.
func (s *stayer) isOut(err error) (bool, error) {
	switch {
	case reason.Is(err, zk.ErrNoNode):
		s.names = nil
	case err != nil, slices.Contains(s.names, s.name):
		return false, err
	}
	if s.tried && len(s.present()) == 0 {
		return true, nil
	}
	return true, ErrNodeDeleted
}

// present returns the members of the round whose nodes are there, in order.
func (s *stayer) present() []string {
	there := set(s.names)
	return slices.DeleteFunc(slices.Clone(s.round), func(name string) bool { return !there.has(name) })
}

// lookForLosses ends the member's context if another one was lost.
func (s *stayer) lookForLosses(ctx context.Context) error {
	there := set(s.names)
	gone := slices.DeleteFunc(slices.Clone(s.round), func(name string) bool { return there.has(name) || s.left.has(name) })
	if len(gone) == 0 {
		return nil
	}
	r, _, _, err := s.barrier.readRounds(ctx, false)
	if err != nil {
		return err
	}
	left := set(r.of(s.name).Left)
	var lost []string
	for _, name := range gone {
		if left.has(name) {
			s.left[name] = struct{}{}
		} else {
			lost = append(lost, name)
		}
	}
	if len(lost) > 0 {
		s.lost = true
		err := &MemberLostError{Path: s.barrier.path, Members: lost}
		if s.ctx.Err() == nil {
			c := s.barrier.client
			framework.Extend(c).Logger().Warn("member of a double barrier lost", logPath(c, s.barrier.path), semconv.Cause, err)
			traceLosses(c, len(lost))
		}
		s.cancel(err)
	}
	return nil
}

// mark tells the others that this member leaves.
func (s *stayer) mark(ctx context.Context) error {
	s.tried = true
	_, err := s.barrier.client.Set(ctx, s.node.Path, nil, framework.AnyVersion)
	if reason.Is(err, zk.ErrNoNode) {
		return nil // the next listing tells why
	}
	s.marked = err == nil
	return err
}

// close ends the round when all members that are still there have left. This
// member is the first of them. It reports false if it must look again.
func (s *stayer) close(ctx context.Context) (out bool, err error) {
	if err := s.takeOver(ctx); err != nil {
		return false, err
	}
	present := s.present()
	if err := s.awaitMarks(ctx, present); err != nil {
		return false, err
	}
	ops := make([]framework.TxnOp, 0, len(present))
	for _, name := range present {
		ops = append(ops, framework.DeleteOp(s.barrier.child(name), framework.AnyVersion))
	}
	_, err = s.barrier.client.Transaction(ctx, ops...)
	if reason.Is(err, zk.ErrNoNode) { // one of them has gone
		return false, nil
	}
	return err == nil, err
}

// takeOver learns from one that was to end the round, and has resigned, who has
// left, so that the marks of all need not be read again.
func (s *stayer) takeOver(ctx context.Context) error {
	if !s.behind {
		return nil
	}
	r, _, _, err := s.barrier.readRounds(ctx, false)
	if err != nil && !reason.Is(err, errAnew) && !reason.Is(err, ErrForeignData) {
		return err
	}
	s.behind = false
	for _, name := range r.of(s.name).Left {
		s.left[name] = struct{}{}
	}
	return nil
}

// awaitMarks waits until the other members are marked or gone.
func (s *stayer) awaitMarks(ctx context.Context, present []string) error {
	marked := make([]bool, len(present))
	errs := make([]error, len(present))
	var others sync.WaitGroup
	slots := make(chan struct{}, 32) // reads at once
	for i, name := range present {
		if name == s.name || s.left.has(name) {
			continue
		}
		others.Go(func() { marked[i], errs[i] = s.awaitMark(ctx, name, slots) })
	}
	others.Wait()
	for i, name := range present {
		if marked[i] {
			s.left[name] = struct{}{}
		}
	}
	return errors.Join(errs...)
}

// awaitMark waits until a member is marked or gone, and reports whether it is
// marked: one that is gone may be lost.
func (s *stayer) awaitMark(ctx context.Context, name string, slots chan struct{}) (marked bool, err error) {
	c, path := s.barrier.client, s.barrier.child(name)
	for {
		slots <- struct{}{}
		data, _, watch, err := c.GetW(ctx, path)
		<-slots
		if err == nil || reason.Is(err, zk.ErrNoNode) {
			s.loop.Note(nil) // the server answers
		}
		if err != nil || len(data) == 0 {
			if watch != nil {
				watch.Stop()
			}
			return err == nil, ignoreGone(err)
		}
		if _, err := watch.Wait(ctx); err != nil {
			watch.Stop()
			return false, err
		}
		data, _, err = c.Get(ctx, path) // without a watch: most changes are the mark
		if err != nil || len(data) == 0 {
			return err == nil, ignoreGone(err)
		}
	}
}

func ignoreGone(err error) error {
	if reason.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

func (s *stayer) stopWatch() {
	if s.watch != nil {
		s.watch.Stop()
		s.watch = nil
	}
}
