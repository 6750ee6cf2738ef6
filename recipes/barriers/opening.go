package barriers

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// The barrier's node has the rounds. Rounds are opened by one transaction that
// checks the nodes of their members and writes the rounds over the version that
// was read. So all n members of each are there at that moment, none of them is
// in another round, and nobody else opens a round at the same time.
//
// The last member that comes opens the round. Each lists the others when its
// node is created, so that the last one sees all that wait. It opens if they are
// enough, or finds that they are not. If it goes, the one before it has done the
// same.

// ownLayout is the layout of this package; see rounds.
type ownLayout struct{ *DoubleBarrier }

func (ownLayout) newName(now time.Time) string {
	return fmt.Sprintf("%s%011x-%s", memberPrefix, now.UnixMilli(), rand.Text())
}

func (ownLayout) inside(p *Passage) inside { return &stayer{Passage: p, left: stringSet{}} }

func (l ownLayout) look(ctx context.Context) (present, error) {
	names, err := l.list(ctx)
	if err != nil || len(names) == 0 {
		return present{}, err
	}
	r, _, err := l.readRounds(ctx) // it may have members that have come since then: they are left out
	return present{
		names: those(names, isMember), waiting: r.waiting(names),
		inside: set(r.members()).has, marked: true,
	}, ignore(err, zk.ErrNoNode)
}

// enter opens the barrier if this member is to, and waits for the opening
// otherwise.
func (ownLayout) enter(ctx context.Context, e *entry, s *framework.Session) error {
	if err := e.create(ctx, s); err != nil {
		return err
	}
	if e.responsible {
		return e.open(ctx)
	}
	return e.awaitOpening(ctx)
}

// awaitOpening waits until the rounds change, unless this member is in one. The
// second look is without a watch: most changes are the opening.
func (e *entry) awaitOpening(ctx context.Context) error {
	data, _, watch, err := e.client.GetW(ctx, e.path)
	if err != nil {
		return err
	}
	defer watch.Stop()
	if err := e.findRound(readRounds(data)); err != nil {
		return err
	}
	if err := e.awaitChange(ctx, watch); err != nil {
		return err
	}
	r, _, err := e.readRounds(ctx)
	return e.findRound(r, err)
}

// findRound returns follow.ErrDone if this member is in one of the rounds. A
// round of another size was opened by a member that was told another n.
func (e *entry) findRound(r rounds, err error) error {
	if err != nil {
		return err
	}
	e.round = r.of(e.name).Members
	switch len(e.round) {
	case 0:
		return nil
	case e.n:
		return follow.ErrDone
	}
	return numberError(e.n, fmt.Sprintf("must be the same for all: another member has opened a round of %d", len(e.round)))
}

// readRounds reads the rounds and the version of the barrier's node. If that is
// gone, there are no members.
func (p place) readRounds(ctx context.Context) (rounds, int32, error) {
	data, stat, err := p.client.Get(ctx, p.path)
	if err != nil {
		return nil, 0, err
	}
	r, err := readRounds(data)
	return r, stat.Version, err
}

// mostAtOnce bounds how many members one transaction lets in, if more than one
// round is opened: all rounds of all who wait, so that n of them do not open
// round after round, each of them against all others.
const mostAtOnce = 500

// open opens the next rounds if enough members wait. Otherwise this member is
// not responsible any more. The names are read after the rounds, so that no
// member of a round is missing that is there.
func (e *entry) open(ctx context.Context) error {
	r, version, err := e.readRounds(ctx)
	if err := e.findRound(r, err); err != nil {
		return err
	}
	names, _, err := e.client.Children(ctx, e.path)
	if err == nil && !slices.Contains(names, e.name) {
		err = zk.ErrNoNode
	}
	if err != nil {
		return err
	}
	waiting := r.waiting(names)
	if len(waiting) < e.n {
		e.responsible = false
		return nil
	}
	opened := nextRounds(waiting, e.n)
	if err := e.openRounds(ctx, r.alive(names), opened, version); err != nil {
		return e.giveWay(ctx, ignore(err, zk.ErrBadVersion, zk.ErrNoNode)) // another round was opened, or a member has gone
	}
	return e.findRound(opened, nil)
}

// nextRounds returns the rounds of those who wait, in order.
func nextRounds(waiting []string, n int) (r rounds) {
	for len(waiting) >= n && (len(r) == 0 || (len(r)+1)*n <= mostAtOnce) {
		r = append(r, round{Members: waiting[:n]})
		waiting = waiting[n:]
	}
	return r
}

func (p place) openRounds(ctx context.Context, before, opened rounds, version int32) error {
	var ops []framework.TxnOp
	for _, name := range opened.members() {
		ops = append(ops, framework.CheckOp(p.child(name), framework.AnyVersion))
	}
	ops = append(ops, framework.SetOp(p.path, slices.Concat(before, opened).encode(), version))
	if _, err := p.client.Transaction(ctx, ops...); err != nil {
		return err
	}
	for range opened {
		p.events.Emit(eventOpened, nil)
	}
	return nil
}
