package barriers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
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

// awaitOpening waits until this member is in a round.
func (e *entry) awaitOpening(ctx context.Context) error {
	for e.responsible {
		if in, err := e.open(ctx); in || err != nil {
			return err
		}
	}
	for {
		r, _, watch, err := e.barrier.readRounds(ctx, true)
		if err != nil {
			return err
		}
		if in, err := e.isIn(r); in || err != nil {
			watch.Stop()
			return err
		}
		if err := e.awaitChange(ctx, watch); err != nil {
			return err
		}
		// This look is without a watch: most changes are the opening.
		r, _, _, err = e.barrier.readRounds(ctx, false)
		if err != nil {
			return err
		}
		if in, err := e.isIn(r); in || err != nil {
			return err
		}
	}
}

// isIn reports whether this member is in one of the rounds. A round of another
// size was opened by a member that was told another n.
func (e *entry) isIn(r rounds) (bool, error) {
	e.round = r.of(e.name).Members
	if e.round != nil && len(e.round) != e.barrier.n {
		return false, &framework.ConfigError{
			Name: "number of members", Value: strconv.Itoa(e.barrier.n),
			Reason: fmt.Sprintf("must be the same for all: another member has opened a round of %d", len(e.round)),
		}
	}
	return e.round != nil, nil
}

// readRounds reads the rounds and the version of the barrier's node. A node
// that is gone has no members: ours must be gone, too.
func (b *DoubleBarrier) readRounds(ctx context.Context, watched bool) (r rounds, version int32, w *framework.Watch, err error) {
	var data []byte
	var stat *zk.Stat
	if watched {
		data, stat, w, err = b.client.GetW(ctx, b.path)
	} else {
		data, stat, err = b.client.Get(ctx, b.path)
	}
	if reason.Is(err, zk.ErrNoNode) {
		err = errAnew
	}
	if err != nil {
		return nil, 0, nil, err
	}
	if r, err = readRounds(data); err != nil && w != nil {
		w.Stop()
	}
	return r, stat.Version, w, err
}

// mostAtOnce bounds how many members one transaction lets in, if more than one
// round is opened: all rounds of all who wait, so that n of them do not open
// round after round, each of them against all others.
const mostAtOnce = 500

// open opens the next rounds if enough members wait. Otherwise this member is
// not responsible any more. It reports whether the member is in a round.
func (e *entry) open(ctx context.Context) (in bool, err error) {
	b := e.barrier
	r, version, _, err := b.readRounds(ctx, false)
	if err != nil {
		return false, err
	}
	if in, err := e.isIn(r); in || err != nil {
		return in, err
	}
	names, _, err := b.client.Children(ctx, b.path) // after the rounds: it has all of their members
	if reason.Is(err, zk.ErrNoNode) || err == nil && !slices.Contains(names, e.name) {
		return false, errAnew
	}
	if err != nil {
		return false, err
	}
	waiting := r.waiting(names)
	if len(waiting) < b.n {
		e.responsible = false
		return false, nil
	}
	opened := nextRounds(waiting, b.n)
	err = b.openRounds(ctx, r.alive(names), opened, version)
	switch {
	case reason.Is(err, zk.ErrBadVersion), reason.Is(err, zk.ErrNoNode):
		return false, nil // another round was opened, or a member has gone
	case err != nil:
		return false, err
	}
	return e.isIn(opened)
}

// nextRounds returns the rounds of those who wait, in order.
func nextRounds(waiting []string, n int) (r rounds) {
	for len(waiting) >= n && (len(r) == 0 || (len(r)+1)*n <= mostAtOnce) {
		r = append(r, round{Members: waiting[:n]})
		waiting = waiting[n:]
	}
	return r
}

func (b *DoubleBarrier) openRounds(ctx context.Context, before, opened rounds, version int32) error {
	var ops []framework.TxnOp
	for _, one := range opened {
		for _, name := range one.Members {
			ops = append(ops, framework.CheckOp(b.child(name), framework.AnyVersion))
		}
	}
	ops = append(ops, framework.SetOp(b.path, slices.Concat(before, opened).encode(), version))
	if _, err := b.client.Transaction(ctx, ops...); err != nil {
		return err
	}
	for range opened {
		framework.Extend(b.client).Logger().Info("double barrier opened", logPath(b.client, b.path))
	}
	return nil
}

// ownWatchDelay is how long a member waits before it watches its own node. Only
// an operator deletes that, and most waits are shorter.
const ownWatchDelay = time.Second

// awaitChange waits for the watch of what opens the barrier: the rounds, or the
// node "ready" in Curator's layout. It is errAnew if the member's node is
// deleted meanwhile.
func (e *entry) awaitChange(ctx context.Context, opening *framework.Watch) error {
	defer opening.Stop()
	e.Recovered()
	delay := time.NewTimer(ownWatchDelay)
	defer delay.Stop()
	select {
	case <-opening.Done():
		return nil
	case <-ctx.Done():
		return reason.OfContext(ctx)
	case <-delay.C:
	}
	for {
		there, _, own, err := e.barrier.client.ExistsW(ctx, e.path())
		if err != nil {
			return err
		}
		e.Recovered()
		if !there {
			own.Stop()
			e.logDeleted()
			return errAnew
		}
		select {
		case <-opening.Done():
			own.Stop()
			return nil
		case <-ctx.Done():
			own.Stop()
			return reason.OfContext(ctx)
		case <-own.Done():
		}
	}
}

func (e *entry) logDeleted() {
	c := e.barrier.client
	framework.Extend(c).Logger().Warn("member of a double barrier was deleted while it waited, and enters again",
		logPath(c, e.path()), semconv.SessionID, sessionText(e.node.Session.ID()))
}
