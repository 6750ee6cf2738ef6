package barriers

import (
	"context"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// A member that does not wait for the others to leave resigns: it is noted in
// its round, so that the others do not take it for lost when its node is gone.
// The note outlives the member's client, as an ephemeral node would not. It is
// in the barrier's node, and not in a node of its own, so that nothing is left
// that somebody would have to delete if all members crash.
//
// So all that resign write one node, each over the version that it has read,
// and one of them is the first. Who was not, tells by a node of its own that it
// resigns, and each that writes again notes all who tell. A writer that beats
// us may have looked before we told. The next one that does has not. So a
// member makes no more than a few requests, however many resign at once.

// resign leaves without waiting for the others.
func (s *stayer) resign(ctx context.Context) error {
	defer s.withdraw()
	return s.follow(ctx, s.noteAndGo)
}

// withdraw deletes the node that says that this member resigns.
func (s *stayer) withdraw() {
	if s.mayTell {
		framework.Extend(s.client).DeleteInBackground(s.child(resignPrefix + s.name))
	}
}

func (s *stayer) noteAndGo(ctx context.Context) error {
	r, version, err := s.readRounds(ctx)
	switch {
	case err != nil:
	case slices.Contains(r.of(s.name).Left, s.name): // another one has noted it
		err = s.client.Delete(ctx, s.node.Path, framework.AnyVersion, framework.WithMissingOK())
	default:
		err = s.note(ctx, r, version)
	}
	switch {
	case err == nil, reason.Is(err, zk.ErrNoNode):
		s.gone = true
		return follow.ErrDone
	case reason.Is(err, zk.ErrBadVersion):
		return s.tell(ctx)
	}
	return err
}

// note notes that this member has left, and deletes its node. It notes as well
// whom it knows to be marked, for the one that is to end the round next. If it
// tells by a node that it resigns, it notes all others who do.
func (s *stayer) note(ctx context.Context, r rounds, version int32) error {
	var telling []string
	if s.told {
		names, _, err := s.client.Children(ctx, s.path)
		if err != nil {
			return err
		}
		telling = resigning(names)
	}
	_, err := s.client.Transaction(ctx,
		framework.SetOp(s.path, r.withLeft(s.noted(telling)...).encode(), version),
		framework.DeleteOp(s.node.Path, framework.AnyVersion))
	return err
}

// noted returns whom this member notes. It is the first: two members that write
// the same over the same version could not tell, after a lost reply, whose
// transaction was carried out.
func (s *stayer) noted(telling []string) []string {
	return slices.Concat([]string{s.name}, slices.Sorted(maps.Keys(s.left)), telling)
}

// tell makes the node that tells others to note this member, unless our own one
// is gone, too.
func (s *stayer) tell(ctx context.Context) error {
	if s.told {
		return nil
	}
	s.mayTell = true
	_, err := s.create(ctx, s.node.Session, s.child(resignPrefix+s.name), nil)
	s.told = ignore(err, zk.ErrNodeExists) == nil
	return ignore(err, zk.ErrNodeExists, zk.ErrNoNode)
}
