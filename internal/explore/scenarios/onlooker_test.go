package scenarios

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
)

// onlooker is a client that follows two nodes: /p/n, which comes and goes, and /m,
// which is written.
type onlooker struct {
	world *explore.World
	actor *explore.Actor
	own   trouble       // of it, when it has heard of something
	over  chan struct{} // closed when nothing changes any more

	mu     sync.Mutex
	nodes  []int64 // the transactions that have made or deleted /p/n, in order
	writes []int64 // those that have written /m

	node  *watched // /p/n
	heard []event  // of writes

	seen int64 // the newest write that it has read
}

// event is a watch that has fired, and the session in which it was set.
type event struct {
	watch *framework.Watch
	in    *framework.Session
}

// note is called after each move.
func (o *onlooker) note(tree explore.Tree) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.nodes = appendNew(o.nodes, tree["/p"].Stat.Pzxid)
	o.writes = appendNew(o.writes, tree["/m"].Stat.Mzxid)
	return nil
}

func appendNew(all []int64, zxid int64) []int64 {
	if len(all) == 0 || all[len(all)-1] != zxid {
		all = append(all, zxid)
	}
	return all
}

// between returns the transactions in all that are later than after, and not later than
// upTo.
func (o *onlooker) between(all *[]int64, after, upTo int64) (some []int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, zxid := range *all {
		if after < zxid && zxid <= upTo {
			some = append(some, zxid)
		}
	}
	return some
}

// read notes a write that was read. What a client has seen, it sees for ever.
func (o *onlooker) read(zxid int64) {
	if zxid < o.seen {
		o.world.Fail("%s has read transaction %#x after %#x", o.actor.Name(), zxid, o.seen)
	}
	o.seen = max(o.seen, zxid)
}

// follow reads both nodes again and again, with watches, until all is over.
func (o *onlooker) follow(ctx context.Context) error {
	for {
		err := o.actor.Client().InSession(ctx, o.followInSession)
		for _, e := range o.allHeard() {
			if e.in.Context().Err() != nil && e.watch.InOrder() {
				o.world.Fail("%s takes an event for one in time, and its session is over", o.actor.Name())
			}
		}
		if err == nil || ctx.Err() != nil || isEnd(o.actor, err) {
			return err
		}
		if !sleeps(ctx, 100*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
}

// sleeps reports whether ctx has not ended meanwhile.
func sleeps(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// watched is a node with a watch, and the newest transaction that the client knew
// of when it was set.
type watched struct {
	watch   *framework.Watch
	asOf    int64
	missing bool // there was no node
}

func (w *watched) isDone() bool {
	select {
	case <-w.watch.Done():
		return true
	default:
		return false
	}
}

func (o *onlooker) followInSession(ctx context.Context) error {
	c := o.actor.Client()
	s, err := c.Session(ctx)
	if err != nil {
		return err
	}
	var node, text *watched
	for {
		if node == nil || node.isDone() {
			there, _, w, err := c.ExistsW(ctx, "/p/n")
			if err != nil {
				return err
			}
			node = &watched{w, c.LastZxid(), !there}
			o.setNode(node)
		}
		if text == nil || text.isDone() {
			_, stat, w, err := c.GetW(ctx, "/m")
			if err != nil {
				return err
			}
			set := &watched{w, c.LastZxid(), false}
			text = set
			o.read(stat.Mzxid)
			w.AfterFunc(func() { o.hears(s, set) })
		}
		if own := o.own; len(o.allHeard()) > 0 && own != nil {
			o.own = nil
			own(o.actor)
		}
		select {
		case <-text.watch.Done():
		case <-node.watch.Done():
		case <-o.over:
			node.watch.Stop()
			text.watch.Stop()
			return nil
		case <-time.After(500 * time.Millisecond):
		}
		if err := o.looks(ctx, node, text); err != nil {
			return err
		}
	}
}

func (o *onlooker) setNode(node *watched) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.node = node
}

func (o *onlooker) allHeard() []event {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.heard)
}

// hears is called when a write was told. It checks that an event in order has none
// before it that is still to come.
func (o *onlooker) hears(in *framework.Session, text *watched) {
	if _, err := text.watch.Event(); err != nil {
		return // the session is over, or this call
	}
	o.mu.Lock()
	o.heard = append(o.heard, event{text.watch, in})
	node := o.node
	o.mu.Unlock()
	told := o.between(&o.writes, text.asOf, math.MaxInt64)
	if text.watch.InOrder() && len(told) > 0 && len(o.untold(&o.nodes, node, told[0])) > 0 {
		o.world.Fail("%s takes an event for one in order, and another change was before that", o.actor.Name())
	}
}

// looks checks that nobody reads a change of which his watches have told nothing.
func (o *onlooker) looks(ctx context.Context, node, text *watched) error {
	_, stat, err := o.actor.Client().Get(ctx, "/m")
	if err != nil {
		return err
	}
	now := o.actor.Client().LastZxid()
	o.read(stat.Mzxid)
	for path, untold := range map[string][]int64{"/p/n": o.untold(&o.nodes, node, now), "/m": o.untold(&o.writes, text, now)} {
		if len(untold) > 0 {
			o.world.Fail("%s knows of transaction %#x, and its watch has not reported the changes %x of %s",
				o.actor.Name(), now, untold, path)
		}
	}
	return nil
}

// untold returns the changes of a node of which a watch should have told. It need not
// tell of a node that has come and gone.
func (o *onlooker) untold(changes *[]int64, w *watched, now int64) []int64 {
	all := o.between(changes, w.asOf, now)
	if w.isDone() || w.missing && len(all)%2 == 0 {
		return nil
	}
	return all
}

// changes has an actor who changes both nodes.
func (o *onlooker) changes(a *explore.Actor) {
	defer close(o.over)
	write := func(ctx context.Context) error {
		_, err := a.Client().Set(ctx, "/m", nil, framework.AnyVersion)
		return err
	}
	for range 3 {
		_ = a.Call("make", func(ctx context.Context) error {
			_, err := a.Client().Create(ctx, "/p/n", nil)
			return err
		})
		_ = a.Call("write", write)
		time.Sleep(300 * time.Millisecond)
		_ = a.Call("delete", func(ctx context.Context) error {
			return a.Client().Delete(ctx, "/p/n", framework.AnyVersion, framework.WithMissingOK())
		})
		_ = a.Call("write", write)
		time.Sleep(400 * time.Millisecond)
	}
	time.Sleep(2 * time.Second)
}

func watchOnlooker(w *explore.World, own trouble) *onlooker {
	w.Node("/p", "")
	w.Node("/m", "")
	o := &onlooker{world: w, own: own, over: make(chan struct{})}
	w.Always(o.note)
	return o
}
