package lockloop

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/retry"
)

// Loop is one lock's way to take a place in the queue and to wait there. It has no state of its own and is safe for
// concurrent use. It admits by the order of the queue, or by the size of the crowd.
type Loop struct {
	Client *framework.Client
	Path   string        // of the lock; the contenders are its children
	Kind   string        // the name of our nodes
	Kinds  []string      // the names of all nodes that count
	Blocks Blocks        // by order: which of those ahead of us keep us waiting
	Fits   Fits          // by number, if it is not nil
	Beside []string      // with Fits: nodes of ours that must be there as well; if one is not, the error is ErrIncomplete
	Data   []byte        // what our nodes say of us
	Limit  int           // how many may be ahead of us; 0 if it does not matter
	Note   func(Refusal) // told how things stand whenever we have to wait; may be nil
	Queued func()        // told when a node of ours is in the queue; may be nil
	Own    bool          // by order: notice also while we wait that our node is gone, for a second watch

	// Leave deletes a node that is given up while ctx is that of the attempt; nil for a guaranteed delete under ctx itself,
	// whose end leaves that to the client's background.
	Leave func(ctx context.Context, node string)

	Observer Observer // may be nil
}

// Refusal says why there was no grant, and how things stood when the queue was
// last seen.
type Refusal struct {
	Seen   time.Time // when that was; zero if the queue was never seen
	Ahead  int       // contenders before us
	Holder string    // the first contender's node name; empty if there is none

	// What is known of the holder, if its node was read.
	HolderData    []byte // what it says of its owner, no more than MaxData of it
	HolderSession int64  // the id of the session that it belongs to
	HolderSince   time.Time

	Full bool  // there were too many ahead to wait
	Err  error // nil if there was no attempt to wait
}

// Acquire waits for a grant until ctx ends. The node returned is ours, in a session that was alive when the grant was
// seen. Whoever gets it must delete it, with a guaranteed delete.
func (l *Loop) Acquire(ctx context.Context) (framework.Created, *Refusal) {
	return l.run(ctx, &place{loop: l, wait: true})
}

// Resume is Acquire for a node of ours that was admitted before. If it is not good any more, another one takes its place.
func (l *Loop) Resume(ctx context.Context, node framework.Created) (framework.Created, *Refusal) {
	return l.run(ctx, &place{loop: l, wait: true, node: node, resume: true})
}

// Try returns a refusal with a nil Err instead of waiting for other contenders.
func (l *Loop) Try(ctx context.Context) (framework.Created, *Refusal) {
	return l.run(ctx, &place{loop: l})
}

// errStale means that our node is gone or belongs to a session that is over, so that we must queue again.
var errStale = errors.New("contender node is stale")

// errHeld means that others are ahead of us and we do not wait.
var errHeld = errors.New("held")

// ErrCorrupted means that something below a lock's path is not what a server or
// a contender puts there.
var ErrCorrupted = errors.New("corrupted data")

// Look returns how things stand, without queueing: as a Try would that found the lock held.
func (l *Loop) Look(ctx context.Context) (Refusal, error) {
	children, _, err := l.Client.Children(ctx, l.Path)
	if errors.Is(err, zk.ErrNoNode) {
		return Refusal{}, nil
	}
	if err != nil {
		return Refusal{}, err
	}
	p := place{loop: l}
	last := Contender{Seq: math.MaxInt32, Czxid: math.MaxInt64} // we would come behind all
	queue, err := p.resolve(ctx, last, children)
	if err != nil {
		return Refusal{}, err
	}
	p.note(StandingOf(last, queue, l.Blocks))
	p.readHolder(ctx)
	return p.seen, nil
}

func (l *Loop) run(ctx context.Context, p *place) (framework.Created, *Refusal) {
	for {
		err := p.take(ctx)
		if err == nil {
			return p.node, nil
		}
		if !p.again(ctx, err) {
			p.seen.Err = reason(ctx, err)
			return framework.Created{}, &p.seen
		}
	}
}

// reason is what the caller is told. When ctx has ended, that is the reason, even if something else happened first.
func reason(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errHeld) && ctx.Err() == nil:
		return nil
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		return fmt.Errorf("%w: %w", retry.ContextError(ctx), err)
	default:
		return err
	}
}

// place is one caller's place in the queue.
type place struct {
	loop   *Loop
	wait   bool
	node   framework.Created
	resume bool // with this node, the first time
	seen   Refusal
	told   bool // the observer knows of the node
}

// again reports whether to queue anew after an error. A waiter outlasts every outage; only its context ends it.
func (p *place) again(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	return errors.Is(err, errStale) || p.sitOut(ctx, err)
}

func (p *place) sitOut(ctx context.Context, err error) bool {
	return p.wait && SitOut(ctx, p.loop.Client, err)
}

// SitOut waits for the connection to come back, and reports whether it has, if err says that it is gone. There is a pause
// in any case: the server may be reachable and still not answer.
func SitOut(ctx context.Context, c *framework.Client, err error) bool {
	if !framework.IsConnectionError(err) {
		return false
	}
	select {
	case <-time.After(outagePause):
	case <-ctx.Done():
	}
	return c.WaitConnected(ctx) == nil
}

const outagePause = 100 * time.Millisecond

// take creates our node and returns nil when it is admitted. In every other case the node is on its way out.
func (p *place) take(ctx context.Context) (err error) {
	p.seen, p.told = Refusal{}, false
	if err := p.enter(ctx); err != nil {
		return err
	}
	admitted := false // nor is it if the user's code panics, such as a retry policy
	defer func() {
		if !admitted {
			p.giveUp(ctx)
		}
	}()
	defer func() {
		if err != nil {
			p.abandoned(err)
		}
	}()
	for {
		err := p.step(ctx)
		switch {
		case errors.Is(err, errAgain):
		case err != nil && p.sitOut(ctx, err): // our node keeps its place meanwhile
		default:
			admitted = err == nil
			return err
		}
	}
}

func (p *place) giveUp(ctx context.Context) {
	if p.loop.Leave != nil {
		p.loop.Leave(ctx, p.node.Path)
		return
	}
	Discard(ctx, p.loop.Client, p.node.Path)
}

// Discard deletes the node of an attempt that is over, whatever happens. It waits for that unless ctx has ended; the
// caller's next request comes behind it in any case.
func Discard(ctx context.Context, c *framework.Client, node string) {
	if ctx.Err() != nil {
		c.DeleteInBackground(node)
		return
	}
	c.Delete(ctx, node, framework.AnyVersion, framework.Guaranteed())
}

// enter creates our node, unless there is one to resume with. Create cleans up after itself.
func (p *place) enter(ctx context.Context) (err error) {
	if p.resume {
		p.resume = false
		return nil
	}
	l := p.loop
	p.node, err = l.Client.Create(ctx, Join(l.Path, l.Kind), l.Data,
		framework.WithMode(framework.EphemeralSequential), framework.Protected(), framework.WithParents(),
		framework.WithSiblings())
	if err == nil && l.Queued != nil {
		l.Queued()
	}
	return err
}

// errAgain means that the queue has changed and must be looked at again.
var errAgain = errors.New("queue has changed")

// step looks at the queue once, and waits for a change of it if that is what it takes.
func (p *place) step(ctx context.Context) error {
	l := p.loop
	if l.Fits != nil {
		return p.stepInCrowd(ctx)
	}
	children, err := p.children(ctx)
	if p.node.Session.Context().Err() != nil || errors.Is(err, zk.ErrNoNode) {
		return errStale
	}
	if err != nil {
		return err
	}
	ours, err := p.contender(children)
	if err != nil {
		return err
	}
	queue, err := p.resolve(ctx, ours, children)
	if err != nil {
		return err
	}
	now := StandingOf(ours, queue, l.Blocks)
	p.queued(now.Ahead, now.Length)
	if now.Blocker == "" {
		return granted(ctx)
	}
	p.note(now)
	p.seen.Full = l.Limit > 0 && now.Ahead >= l.Limit
	if !p.wait || p.seen.Full {
		p.readHolder(ctx)
		return errHeld
	}
	return p.waitFor(ctx, now.Blocker)
}

// granted is the end of a step that has found our node admitted. A grant that
// comes after the caller has gone is none: nobody would release it.
func granted(ctx context.Context) error {
	if ctx.Err() != nil {
		return retry.ContextError(ctx)
	}
	return nil
}

// contender returns what our node is in the queue, if it still is.
func (p *place) contender(children []string) (Contender, error) {
	name := path.Base(p.node.Path)
	if !slices.Contains(children, name) {
		return Contender{}, errStale
	}
	ours, ok := parse(name, p.loop.Kinds)
	if !ok { // no server appends such a number
		return Contender{}, fmt.Errorf("%w: node %q has no sequence number", ErrCorrupted, name)
	}
	ours.Czxid = p.node.Czxid
	return ours, nil
}

// resolve returns the contenders among the children so that they can be compared
// with ours. If ours has a number of its own, all who have none are behind it,
// and their order does not matter.
func (p *place) resolve(ctx context.Context, ours Contender, children []string) (iter.Seq[Contender], error) {
	l := p.loop
	all := Contenders(children, l.Kinds...)
	if !ours.overflowed() {
		return all, nil
	}
	read, err := readCzxids(ctx, l.Client, l.Path, slices.Collect(all))
	if err == nil && ours.Node != "" && !slices.Contains(read, ours) {
		err = errStale // deleted since the listing
	}
	return slices.Values(read), err
}

// children lists the lock's path. The first time, that came with the node.
func (p *place) children(ctx context.Context) ([]string, error) {
	if first := p.node.Siblings; first != nil {
		p.node.Siblings = nil
		return first, nil
	}
	names, _, err := p.loop.Client.Children(ctx, p.loop.Path)
	return names, err
}

// note takes down how things stand. What is known of a holder is of no use for
// the next.
func (p *place) note(now Standing) {
	p.noteHolder(now.First)
	p.seen.Ahead = now.Ahead
}

func (p *place) noteHolder(node string) {
	if node != p.seen.Holder {
		p.seen = Refusal{Holder: node}
	}
	p.seen.Seen = time.Now()
}

// readHolder finds out who holds the lock, for the caller's error. It is no
// reason to fail if that does not work.
func (p *place) readHolder(ctx context.Context) {
	if p.seen.Holder == "" {
		return
	}
	data, stat, err := p.loop.Client.Get(ctx, Join(p.loop.Path, p.seen.Holder))
	if err == nil {
		p.holderIs(data, stat)
	}
}

// readNewHolder is readHolder for a holder of whom nothing is known yet: one
// request for each holder that a waiter sees.
func (p *place) readNewHolder(ctx context.Context) {
	if p.seen.HolderSince.IsZero() {
		p.readHolder(ctx)
	}
}

func (p *place) holderIs(data []byte, stat *zk.Stat) {
	p.seen.HolderData, p.seen.HolderSession = Clip(data), stat.EphemeralOwner
	p.seen.HolderSince = time.UnixMilli(stat.Ctime)
}

// waitFor returns errAgain when a node ahead of us has changed. The watch is set
// by reading the node, not by asking for its existence, which would leave a
// watch behind on a node that is gone already (CURATOR-107).
func (p *place) waitFor(ctx context.Context, node string) error {
	data, stat, watch, err := p.loop.Client.GetW(ctx, Join(p.loop.Path, node))
	if errors.Is(err, zk.ErrNoNode) {
		return errAgain
	}
	if err != nil {
		return err
	}
	defer watch.Stop()
	if node == p.seen.Holder {
		p.holderIs(data, stat)
	}
	p.readNewHolder(ctx)
	own, stop, err := p.watchOwn(ctx)
	if err != nil {
		return err
	}
	defer stop()
	p.waiting(other(node, data, stat))
	if p.loop.Note != nil {
		p.loop.Note(p.seen)
	}
	err = p.await(ctx, watch.Done(), own)
	p.woken(err, watch)
	return err
}

// watchOwn watches our own node, if that is asked for.
func (p *place) watchOwn(ctx context.Context) (changed <-chan struct{}, stop func(), err error) {
	if !p.loop.Own {
		return nil, func() {}, nil
	}
	_, _, watch, err := p.loop.Client.GetW(ctx, p.node.Path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil, errStale
	}
	if err != nil {
		return nil, nil, err
	}
	return watch.Done(), watch.Stop, nil
}

// await returns errAgain when one of two things has happened.
func (p *place) await(ctx context.Context, one, other <-chan struct{}) error {
	session := p.node.Session.Context()
	select {
	case <-one:
		return errAgain
	case <-other:
		return errAgain
	case <-session.Done():
		return errStale
	case <-ctx.Done():
		return retry.ContextError(ctx)
	}
}

// Join returns the path of a child.
func Join(parent, child string) string {
	return strings.TrimSuffix(parent, "/") + "/" + child
}
