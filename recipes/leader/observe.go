package leader

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/locks"
)

// Observe returns who leads now, and then each new leader, until ctx ends. It
// is for those who do not stand: they need no Latch or Selector, but only its
// path. Leaders of Java Curator's LeaderLatch and LeaderSelector are seen, too.
//
//	for now, err := range leader.Observe(ctx, client, "/reports/leader") {
//		if err != nil {
//			return err
//		}
//		route(now.ID()) // empty Path: nobody leads
//	}
//
// The participant is the candidate that leads or is about to: it may not know
// yet, or have stopped already. The Token is the fencing token. It never falls
// from one leader to the next, and no leader is told twice in a row. A
// participant with an empty Path says that nobody stands. A slow caller misses
// leaders in between, but never the last one.
//
// The loop runs on the caller's goroutine. It costs one watch, on the leader's
// node, and two requests for each leader, however many candidates come and go.
// It outlasts outages and losses of the session; meanwhile the last answer is
// old. It ends with an error in the second value if the server refuses it, such
// as for want of rights, or the client is closed. The end of ctx is no error.
func Observe(ctx context.Context, c *framework.Client, path string) iter.Seq2[locks.Participant, error] {
	return func(yield func(locks.Participant, error) bool) {
		o := &observer{yield: yield, queue: queue.New(queue.Config{
			Client: c, Path: path, Kind: latchKind, Kinds: []string{latchKind, mutexKind}, Op: "observe",
		})}
		err := o.queue.Ready(ctx)
		if err == nil {
			err = o.run(ctx)
		}
		if err != nil && !o.left && ctx.Err() == nil {
			yield(locks.Participant{}, o.queue.OpError(err))
		}
	}
}

// observer is the state of one loop over Observe.
type observer struct {
	queue *queue.Queue
	yield func(locks.Participant, error) bool
	left  bool // the caller has left the loop

	told   bool  // the caller has had an answer
	leader int64 // the token of the leader in the last answer, or 0
}

// observePause keeps an observer from asking a server in trouble all the time.
const observePause = time.Second

func (o *observer) run(ctx context.Context) error {
	c := o.queue.Client()
	for {
		err := c.InSession(ctx, o.observeInSession)
		switch {
		case ctx.Err() != nil, o.left, endsCandidacy(err) && !reason.Is(err, framework.ErrSessionLost):
			return err
		case reason.Is(err, framework.ErrSessionLost), reason.Is(err, framework.ErrNotConnected):
		default:
			select {
			case <-time.After(observePause):
			case <-ctx.Done():
			}
		}
		if err := c.WaitConnected(ctx); err != nil {
			return err
		}
	}
}

// observeInSession looks again whenever something has changed. It never sees an
// older state than before, also in a new session: the beginning of a session is
// a transaction, and the server has carried it out.
func (o *observer) observeInSession(ctx context.Context) error {
	for {
		if err := o.look(ctx); err != nil {
			return err
		}
	}
}

// look tells the caller who leads, and waits for a change of that.
func (o *observer) look(ctx context.Context) error {
	entries, err := o.queue.Entries(ctx)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return o.awaitCandidate(ctx)
	}
	path := znode.Join(o.queue.Path(), entries[0].Node)
	data, stat, watch, err := o.queue.Client().GetW(ctx, path)
	if reason.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	defer watch.Stop()
	if err := o.tell(locks.Participant{
		Path: path, Holder: true, Token: stat.Czxid, Session: stat.EphemeralOwner,
		Since: time.UnixMilli(stat.Ctime), Data: lockloop.Clip(data),
	}); err != nil {
		return err
	}
	return wait(ctx, watch)
}

// awaitCandidate tells the caller that nobody leads, and waits for a candidate.
func (o *observer) awaitCandidate(ctx context.Context) error {
	c, path := o.queue.Client(), o.queue.Path()
	names, _, watch, err := c.ChildrenW(ctx, path)
	if reason.Is(err, zk.ErrNoNode) {
		var there bool
		if there, _, watch, err = c.ExistsW(ctx, path); there {
			watch.Stop()
			return nil
		}
	}
	if err != nil {
		return err
	}
	defer watch.Stop()
	for _, name := range names {
		if lockloop.IsNode(name, latchKind, mutexKind) {
			return nil
		}
	}
	if err := o.tell(locks.Participant{}); err != nil {
		return err
	}
	return wait(ctx, watch)
}

// wait returns nil when the watch has fired. The end of the session ends ctx.
func wait(ctx context.Context, watch *framework.Watch) error {
	select {
	case <-watch.Done():
		return nil
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}

// errLeft ends the loop of a caller that has left.
var errLeft = errors.New("caller has left the loop")

// tell tells the caller who leads, if that has changed.
func (o *observer) tell(p locks.Participant) error {
	if o.told && p.Token == o.leader {
		return nil
	}
	o.told, o.leader = true, p.Token
	if !o.yield(p, nil) {
		o.left = true
		return errLeft
	}
	return nil
}
