package leader

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locks"
)

// Observe returns the current leader, and then each new leader, until ctx ends. The caller
// needs the path of an election, but no Latch or Selector. Observe also sees leaders of
// Java Curator's LeaderLatch and LeaderSelector and of kazoo's Election.
//
//	for now, err := range leader.Observe(ctx, client, "/reports/leader") {
//		if err != nil {
//			return err
//		}
//		if now.Path == "" {
//			route("") // there is no leader
//			continue
//		}
//		route(now.ID())
//	}
//
// The participant is the candidate that leads or is about to lead: it may not know yet,
// or may have stopped already. Token is the fencing token, which never decreases from one
// leader to the next. Observe never returns the same leader twice in a row. If Path is
// empty, there is no candidate. A slow caller misses leaders in between, but never the
// latest.
//
// The loop runs in the caller's goroutine. It costs one watch on the leader's node, and
// two requests for each new leader, however many candidates come and go. Observe retries
// through outages, lost sessions and failures of servers, and logs them; during that time,
// the last leader may be out of date. The loop ends with an error if the server refuses
// the requests or the client's credentials, or if the client is closed. The end of ctx is
// no error, even if there was no leader yet.
func Observe(ctx context.Context, c *framework.Client, path string) iter.Seq2[locks.Participant, error] {
	return func(yield func(locks.Participant, error) bool) {
		o := &observer{queue: candidatesAt(c, path)}
		o.Client, o.What, o.vanished = c, "leader observer", pauses.Vanished()
		o.About, o.Look, o.yield = o.queue.Events().Path, o.look, yield
		err := o.queue.Ready(ctx)
		if err == nil {
			err = o.Run(ctx)
		}
		if err != nil && ctx.Err() == nil {
			yield(locks.Participant{}, o.queue.OpError(err))
		}
	}
}

// Now returns the candidate that leads or is about to lead. The caller does not become a
// candidate. Now sees candidates of Latch and Selector, of Java Curator's LeaderLatch and
// LeaderSelector, and of kazoo's Election. If there is no candidate, the error matches
// ErrNoLeader.
//
// Now sends two requests to the server that the client is connected to. That server may
// lag: call framework.Client.Sync before Now if the leader must be as new as the call. Use
// Observe to follow changes of the leader.
func Now(ctx context.Context, c *framework.Client, path string) (locks.Participant, error) {
	queue := candidatesAt(c, path)
	if err := queue.Ready(ctx); err != nil {
		return locks.Participant{}, queue.ErrorOf("leader", err)
	}
	return first(ctx, queue)
}

// candidatesAt returns the queue with candidates of all kinds.
func candidatesAt(c *framework.Client, path string) *seat.Lock {
	return seat.New(seat.Config{Client: c, Path: path, Kind: latchKind, Kinds: candidateKinds, Op: "observe"})
}

// candidateKinds are the node names of all candidates.
var candidateKinds = []string{latchKind, mutexKind, order.KazooKinds[0]}

// observer is the state of one loop over Observe.
type observer struct {
	follow.Loop
	queue *seat.Lock
	yield func(locks.Participant, error) bool

	told     bool           // the caller has received a leader, or that there is none
	leader   int64          // the token of the last leader that the caller received, or 0
	vanished pauses.Growing // pauses after leaders that vanish before they are read
}

// look yields the leader, if it has changed, and waits for a change. look never sees an
// older state than before, not even in a new session: the creation of a session is a
// transaction, which the server has applied.
func (o *observer) look(ctx context.Context, _ *framework.Session) error {
	now, watch, err := o.whoLeads(ctx)
	if err != nil {
		return err
	}
	if watch == nil {
		return o.vanished.Wait(ctx)
	}
	defer watch.Stop()
	o.vanished.Reset()
	o.Recovered()
	if !o.told || now.Token != o.leader {
		o.told, o.leader = true, now.Token
		if !o.yield(now, nil) {
			return follow.ErrDone
		}
	}
	_, err = watch.Wait(ctx)
	return err
}

// whoLeads returns the leader, and a watch on its node. If the leader vanishes before it
// is read, the watch is nil.
func (o *observer) whoLeads(ctx context.Context) (locks.Participant, *framework.Watch, error) {
	entries, err := o.queue.Entries(ctx, "observe")
	if err != nil {
		return locks.Participant{}, nil, err
	}
	if len(entries) == 0 {
		watch, err := o.watchForCandidates(ctx)
		return locks.Participant{}, watch, err
	}
	path := znode.Join(o.queue.Path(), entries[0].Node)
	data, stat, watch, err := o.Client.GetW(ctx, path)
	if reason.Is(err, zk.ErrNoNode) {
		return locks.Participant{}, nil, nil
	}
	if err != nil {
		return locks.Participant{}, nil, err
	}
	return locks.Participant{
		Path: path, Holder: true, Token: stat.Czxid, Session: stat.EphemeralOwner,
		Since: time.UnixMilli(stat.Ctime), Data: order.Clip(data),
	}, watch, nil
}

// watchForCandidates returns a watch for the first candidate, or nil if there is a
// candidate by now.
func (o *observer) watchForCandidates(ctx context.Context) (*framework.Watch, error) {
	names, _, watch, err := o.Client.ChildrenW(ctx, o.queue.Path())
	var there bool // the path exists again
	if reason.Is(err, zk.ErrNoNode) {
		there, _, watch, err = o.Client.ExistsW(ctx, o.queue.Path())
	}
	if err != nil {
		return nil, err
	}
	isCandidate := func(name string) bool { return order.IsNode(name, candidateKinds...) }
	if there || slices.ContainsFunc(names, isCandidate) {
		watch.Stop()
		return nil, nil
	}
	return watch, nil
}
