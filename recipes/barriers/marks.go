package barriers

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// awaitMarks waits until the other members are marked or gone. Most of them leave at
// about the same time. So one request reads all marks, before the wait and behind
// it. If the server does not take that, each mark is read when it changes: this
// member may give up while it waits for the last one, and hands on what it knows.
func (s *stayer) awaitMarks(ctx context.Context) error {
	var unread atomic.Int64 // how many nodes are not read together with others
	later := func(context.Context, string) ([]byte, *zk.Stat, error) {
		unread.Add(1)
		return []byte("not known"), &zk.Stat{}, nil
	}
	others := those(s.present, func(name string) bool { return name != s.name && !s.left[name] })
	unmarked, err := s.readMarks(ctx, others, later)
	apart := int(unread.Load()) == len(others) // a few may be left over, and be read later
	for err == nil && len(unmarked) > 0 {
		unmarked, err = s.awaitChanges(ctx, unmarked, apart)
		if err == nil && !apart {
			unmarked, err = s.readMarks(ctx, unmarked, s.client.Get)
		}
	}
	return err
}

// mark is what is known of a member that is to leave.
type mark int

const (
	gone   mark = iota // or lost
	marked             // it leaves
	stays              // it is not known to leave
)

// readMarks reads the nodes of members, one by one if they cannot be read together.
// It returns those that are still inside.
func (s *stayer) readMarks(ctx context.Context, names []string, one readNode) ([]string, error) {
	marks := make([]mark, len(names))
	err := s.readMembers(ctx, names, one, func(i int, data []byte, _ *zk.Stat) { marks[i] = markOf(data) })
	return s.noteMarks(names, marks), err
}

func markOf(data []byte) mark {
	if len(data) == 0 {
		return marked
	}
	return stays
}

// noteMarks notes which members are marked, and returns those that are inside.
func (s *stayer) noteMarks(names []string, marks []mark) (unmarked []string) {
	for i, name := range names {
		switch marks[i] {
		case marked:
			s.left[name] = true
		case stays:
			unmarked = append(unmarked, name)
		}
	}
	return unmarked
}

// awaitChanges waits until the nodes of all these members are marked or gone, or
// have changed. It returns those that are not known to be marked: without reads, all
// that have changed. The first error ends the wait: others may stay for hours.
func (s *stayer) awaitChanges(ctx context.Context, names []string, read bool) (unmarked []string, err error) {
	waiting, fail := context.WithCancelCause(ctx) // one that fails ends the others
	defer fail(nil)
	marks := make([]mark, len(names))
	slots := make(chan struct{}, memberReads)
	var waits sync.WaitGroup
	for i, name := range names {
		waits.Go(func() {
			err := follow.ErrNoReturn // unless the user's code lets it return
			defer func() {
				if err != nil {
					fail(err)
				}
			}()
			marks[i], err = s.awaitChange(waiting, s.child(name), read, slots)
		})
	}
	waits.Wait()
	unmarked = s.noteMarks(names, marks)
	if ctx.Err() != nil {
		return nil, reason.OfContext(ctx)
	}
	return unmarked, context.Cause(waiting)
}

// awaitChange waits for a change of a member's node, unless it is marked or gone. To
// read it then, it sets no watch: most changes are the mark.
func (s *stayer) awaitChange(ctx context.Context, path string, read bool, slots chan struct{}) (mark, error) {
	data, watch, err := s.getW(ctx, path, slots)
	if err != nil {
		return gone, ignore(err, zk.ErrNoNode)
	}
	defer watch.Stop()
	if markOf(data) == marked {
		return marked, nil
	}
	if _, err = watch.Wait(ctx); err != nil || !read {
		return stays, err
	}
	if data, _, err = s.client.Get(ctx, path); err != nil {
		return gone, ignore(err, zk.ErrNoNode)
	}
	return markOf(data), nil
}

// getW reads a node when there is a free slot.
func (s *stayer) getW(ctx context.Context, path string, slots chan struct{}) ([]byte, *framework.Watch, error) {
	slots <- struct{}{}
	defer func() { <-slots }()
	data, _, watch, err := s.client.GetW(ctx, path)
	if ignore(err, zk.ErrNoNode) == nil {
		s.loop.Note(nil) // the server answers
	}
	return data, watch, err
}
