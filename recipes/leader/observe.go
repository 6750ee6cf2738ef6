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

// Observe returns who leads now, and then each new leader, until ctx ends. It
// is for those who do not stand: they need no Latch or Selector, but only its
// path. Leaders of Java Curator's LeaderLatch and LeaderSelector and of kazoo's
// Election are seen, too.
//
//	for now, err := range leader.Observe(ctx, client, "/reports/leader") {
//		if err != nil {
//			return err
//		}
//		if now.Path == "" {
//			route("") // nobody leads
//			continue
//		}
//		route(now.ID())
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
// It outlasts outages, losses of the session, and servers in trouble, which it
// logs. Meanwhile the last answer is old. It ends with an error in the second
// value if the server refuses it, such as for want of rights, if the servers
// refuse the client's credentials, or if the client is closed. The end of ctx
// is no error, also if there was never an answer.
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

// Now returns the candidate that leads, or is about to, without standing. Candidates
// of Latch, of Selector, of Java Curator's LeaderLatch and LeaderSelector, and of kazoo's
// Election count. If there is no candidate, the error is ErrNoLeader.
//
// Now reads once, with two requests, from the server to which the client is connected.
// That server may lag behind: call framework.Client.Sync before Now if the leader
// must be as new as the call. Observe reports changes of the leader.
func Now(ctx context.Context, c *framework.Client, path string) (locks.Participant, error) {
	queue := candidatesAt(c, path)
	if err := queue.Ready(ctx); err != nil {
		return locks.Participant{}, queue.ErrorOf("leader", err)
	}
	return first(ctx, queue)
}

// candidatesAt returns the queue of all kinds of candidates.
func candidatesAt(c *framework.Client, path string) *seat.Lock {
	return seat.New(seat.Config{Client: c, Path: path, Kind: latchKind, Kinds: candidateKinds, Op: "observe"})
}

// candidateKinds are the names of all candidates.
var candidateKinds = []string{latchKind, mutexKind, order.KazooKinds[0]}

// observer is the state of one loop over Observe.
type observer struct {
	follow.Loop
	queue *seat.Lock
	yield func(locks.Participant, error) bool

	told     bool           // the caller has had an answer
	leader   int64          // the token of the leader in the last answer, or 0
	vanished pauses.Growing // leaders are gone when they are read, time and again
}

// look tells the caller who leads, if that has changed, and waits for a change.
// It never sees an older state than before, also in a new session: the
// beginning of a session is a transaction, and the server has carried it out.
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

// whoLeads returns the leader, and a watch for its end. If that is not the
// leader any more, there is no watch.
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

// watchForCandidates returns a watch for the first candidate, or none if there
// is one now.
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
