package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

// The instances of the service orders are right below its path.
const (
	registry = "/services"
	orders   = registry + "/orders"
	grace    = time.Second
)

var format = discovery.CuratorCodec()

func order(id string, port int) discovery.Instance {
	return discovery.Instance{Service: "orders", ID: id, Address: "10.0.0.7", Port: port}
}

// encoded is what the node of an instance contains.
func encoded(w *explore.World, i discovery.Instance) string {
	_, data, err := format.Encode(i)
	if err != nil {
		w.Fail("%v", err)
	}
	return string(data)
}

// said is what readers learn of an instance.
func said(i discovery.Instance) string { return fmt.Sprintf("port %d, drains: %t", i.Port, i.Disabled) }

// listing is the service as of one transaction.
type listing struct {
	zxid      int64
	instances map[string]string // what they say, by their IDs
	bad       map[string]bool   // nodes that are no instances
	born      map[string]int64  // the czxids of the nodes
}

func listingOf(tree explore.Tree) listing {
	l := listing{instances: map[string]string{}, bad: map[string]bool{}, born: map[string]int64{}}
	for _, n := range append(below(tree, orders), tree[orders]) {
		l.zxid = max(l.zxid, n.Stat.Mzxid, n.Stat.Pzxid) // the last one also knows of deletions
		id, ok := strings.CutPrefix(n.Path, orders+"/")
		if !ok || strings.Contains(id, "/") {
			continue
		}
		l.born[id] = n.Stat.Czxid
		if i, err := format.Decode("orders", id, n.Data); err == nil {
			l.instances[id] = said(i)
		} else if n.Stat.NumChildren == 0 {
			l.bad[id] = true
		}
	}
	return l
}

// listings are what the service was like, and who looks at it.
type listings struct {
	history []listing
	finders []*finder
	kept    []*kept // the nodes of registrations
	before  tenants // of their paths
}

// follow has a world look at its listings, after each move and at the end.
func follow(w *explore.World) *listings {
	w.Node(registry, "")
	w.Node(orders, "")
	all := &listings{before: tenants{}}
	w.Always(all.look)
	w.AtEnd(all.end)
	return all
}

func (l *listings) look(tree explore.Tree) error {
	if now := listingOf(tree); len(l.history) == 0 || l.history[len(l.history)-1].zxid != now.zxid {
		l.history = append(l.history, now)
	}
	for _, f := range l.finders {
		if err := f.check(l); err != nil {
			return fmt.Errorf("the directory of %s %w", f.actor.Name(), err)
		}
	}
	l.before.see(tree, orders)
	for _, k := range l.kept {
		if err := k.check(tree); err != nil {
			return err
		}
	}
	return nil
}

// at returns the service as of a transaction.
func (l *listings) at(zxid int64) (found listing) {
	for _, one := range l.history {
		if one.zxid <= zxid {
			found = one
		}
	}
	return found
}

// ever reports whether an instance has ever said that.
func (l *listings) ever(id, text string) bool {
	for _, one := range l.history {
		if one.instances[id] == text {
			return true
		}
	}
	return false
}

// end looks for the last time, and closes the directories.
func (l *listings) end(tree explore.Tree) error {
	errs := []error{l.look(tree)}
	last := listingOf(tree).instances
	for _, f := range l.finders {
		if !f.actor.Closed() && !maps.Equal(last, f.heard) {
			errs = append(errs, fmt.Errorf("the directory of %s has %v in the end, and the tree %v", f.actor.Name(), f.heard, last))
		}
		errs = append(errs, f.directory.Close())
		if !f.directory.Snapshot().Interrupted {
			errs = append(errs, fmt.Errorf("the directory of %s says that it is up to date, and is closed", f.actor.Name()))
		}
	}
	return errors.Join(errs...)
}

// finder is a directory, and somebody who listens to it.
type finder struct {
	actor     *explore.Actor
	directory *discovery.Directory
	zxid      int64                // of the directory, when it was seen last
	heard     map[string]string    // what its changes lead to
	gone      map[string]time.Time // since when an instance is shown without a node
	looked    time.Time            // the time of the last look, if the directory was interrupted then
	shown     map[string]string    // what it has shown at the last look
}

// find gives an actor a directory. It returns nil if the client is closed.
func (l *listings) find(w *explore.World, a *explore.Actor, opts ...discovery.DirectoryOption) *finder {
	opts = append(opts, discovery.WithRemovalGrace(grace))
	d, err := discovery.NewDirectory(a.Client(), registry, format, "orders", opts...)
	if err != nil {
		refuse(w, a, err)
		return nil
	}
	f := &finder{actor: a, directory: d, heard: map[string]string{}, gone: map[string]time.Time{}}
	l.finders = append(l.finders, f)
	go f.listen()
	return f
}

func (f *finder) listen() {
	for ch, err := range f.directory.Changes(context.Background()) {
		switch {
		case err != nil:
			return
		case ch.Type == discovery.Removed:
			delete(f.heard, ch.Old.ID)
		case ch.New != nil:
			f.heard[ch.New.ID] = said(ch.New.Instance)
		}
	}
}

// waitFor waits until a transaction is in the directory.
func (f *finder) waitFor(w *explore.World, zxid int64) {
	err := f.actor.Call("wait for it", func(ctx context.Context) error { return f.directory.WaitFor(ctx, zxid) })
	if reason.Is(err, cache.ErrFutureZxid) {
		w.Fail("%s is told that there is no transaction %#x", f.actor.Name(), zxid)
	}
	if got := f.directory.Snapshot().Zxid; err == nil && got < zxid {
		w.Fail("the directory is of transaction %#x, and was waited for until %#x", got, zxid)
	}
}

// stand leaves out the time of an interruption, in which the grace stands still.
func (f *finder) stand(interrupted bool) {
	if !f.looked.IsZero() {
		for id, since := range f.gone {
			f.gone[id] = since.Add(time.Since(f.looked))
		}
	}
	if f.looked = (time.Time{}); interrupted {
		f.looked = time.Now()
	}
}

// check compares the directory with the service as of its transaction.
func (f *finder) check(all *listings) error {
	s := f.directory.Snapshot()
	if s.Zxid < f.zxid {
		return fmt.Errorf("is of transaction %#x after %#x", s.Zxid, f.zxid)
	}
	same := s.Zxid == f.zxid && s.Interrupted && !f.looked.IsZero() // it was interrupted all the time
	f.zxid = s.Zxid
	shown, before := map[string]string{}, f.shown
	for _, e := range s.Entries {
		shown[e.ID] = said(e.Instance)
	}
	f.shown = shown
	if s.Zxid != 0 && !maps.Equal(shown, f.heard) {
		return fmt.Errorf("has %v, and its changes lead to %v", shown, f.heard)
	}
	if same && len(shown) < len(before) {
		return fmt.Errorf("has %v, had %v, and does not know what there is", shown, before)
	}
	f.stand(s.Interrupted)
	if s.Interrupted {
		return nil // it keeps what it has
	}
	want := all.at(s.Zxid)
	bad, failed := map[string]bool{}, map[string]bool{}
	for _, b := range s.Bad {
		if _, is := framework.ServerCode(b.Err); is {
			failed[b.ID] = true
		} else {
			bad[b.ID] = true
		}
	}
	for id := range failed { // it stays as it was
		if before[id] != shown[id] {
			return fmt.Errorf("has %q of %s, had %q, and a server has failed to read it", shown[id], id, before[id])
		}
		return nil
	}
	for id, text := range want.instances {
		if shown[id] != text {
			return fmt.Errorf("of transaction %#x has %q of %s, which has said %q", s.Zxid, shown[id], id, text)
		}
	}
	if err := all.checkSince(want, s.Entries); err != nil {
		return err
	}
	if !maps.Equal(bad, want.bad) {
		return fmt.Errorf("of transaction %#x says that %v are malformed, and %v were", s.Zxid, bad, want.bad)
	}
	return f.checkGone(all, want, s.Entries)
}

// checkSince checks that an instance that goes on with another node than its first
// one is where it was.
func (l *listings) checkSince(want listing, entries []*discovery.Entry) error {
	for _, e := range entries {
		if _, there := want.instances[e.ID]; !there || want.born[e.ID] == e.Since {
			continue
		}
		before, now := map[string]bool{}, map[string]bool{}
		for _, one := range l.history {
			text, _, _ := strings.Cut(one.instances[e.ID], ",")
			switch born := one.born[e.ID]; {
			case text == "":
			case born == want.born[e.ID]:
				now[text] = true
			case born >= e.Since && born < want.born[e.ID]:
				before[text] = true
			}
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(now)), func(text string) bool { return before[text] }) {
			return fmt.Errorf("takes %s for the instance that was at %v, and it is at %v", e.ID, before, now)
		}
	}
	return nil
}

// checkGone checks the instances that are shown without a node.
func (f *finder) checkGone(all *listings, want listing, entries []*discovery.Entry) error {
	still := map[string]time.Time{}
	for _, e := range entries {
		if _, there := want.instances[e.ID]; there {
			continue
		}
		still[e.ID] = time.Now()
		if since, known := f.gone[e.ID]; known {
			still[e.ID] = since
		}
		switch {
		case e.Disabled || want.bad[e.ID]:
			return fmt.Errorf("keeps %s, which has drained or is malformed", e.ID)
		case time.Since(still[e.ID]) > grace:
			return fmt.Errorf("keeps %s for longer than the grace", e.ID)
		case !all.ever(e.ID, said(e.Instance)):
			return fmt.Errorf("has %q of %s, which has never said that", said(e.Instance), e.ID)
		}
	}
	f.gone = still
	return nil
}

// operator changes nodes, as registrants in Java do, and people.
type operator struct {
	*explore.Actor

	world *explore.World
	zxid  int64 // of the last change that was carried out
}

func (o *operator) create(i discovery.Instance) {
	_ = o.Call("create "+i.ID, func(ctx context.Context) error {
		made, err := o.Client().Create(ctx, orders+"/"+i.ID, []byte(encoded(o.world, i)))
		if err == nil {
			o.zxid = made.Czxid
		}
		return err
	})
}

func (o *operator) write(id, data string) {
	_ = o.Call("write "+id, func(ctx context.Context) error {
		stat, err := o.Client().Set(ctx, orders+"/"+id, []byte(data), framework.AnyVersion)
		if err == nil {
			o.zxid = stat.Mzxid
		}
		return err
	})
}

func (o *operator) remove(id string) {
	_ = o.Call("delete "+id, func(ctx context.Context) error {
		return o.Client().Delete(ctx, orders+"/"+id, framework.AnyVersion)
	})
}

// instancesFlicker has nodes go and come back within the grace and behind it, at
// the same address and at another one, also that of an instance that drained.
func instancesFlicker(o *operator) {
	o.remove("a")
	time.Sleep(grace / 2)
	o.create(order("a", 1))
	o.remove("b")
	o.create(order("b", 3))
	o.remove("a")
	time.Sleep(2 * grace)
	o.create(order("a", 1))
	draining := order("b", 3)
	draining.Disabled = true
	o.write("b", encoded(o.world, draining))
	o.remove("b")
}

// nodesAreMalformed has a node become one that cannot be decoded, and come back,
// and another one that was never an instance.
func nodesAreMalformed(o *operator) {
	o.write("a", "garbage")
	o.write("a", encoded(o.world, order("a", 4)))
	o.remove("a")
	o.create(order("a", 4))
	o.write("b", "garbage")
	o.remove("b")
	o.create(order("b", 2))
}

// directoryBesideAnOperator has an actor with a directory, and another one who
// changes the nodes.
func directoryBesideAnOperator(change func(*operator), own trouble) explore.Scenario {
	return func(w *explore.World) {
		all := follow(w)
		w.Node(orders+"/a", encoded(w, order("a", 1)))
		w.Node(orders+"/b", encoded(w, order("b", 2)))
		var last int64
		done := make(chan struct{}) // closed when all is changed
		w.Actor("A", func(a *explore.Actor) {
			f := all.find(w, a)
			if f == nil {
				return
			}
			_ = a.Call("wait until it is filled", f.directory.WaitSynced)
			own(a)
			<-done
			f.waitFor(w, last)
		})
		w.Actor("B", func(a *explore.Actor) {
			o := &operator{Actor: a, world: w}
			change(o)
			last = o.zxid
			close(done)
		})
	}
}

func TestDirectory(t *testing.T) {
	explore.Search(t, directoryBesideAnOperator(instancesFlicker, none), quick())
}

// A server fails to read a node.
func TestDirectoryAfterAFailure(t *testing.T) {
	explore.Search(t, directoryBesideAnOperator(instancesFlicker, meets(zktest.OpGetData, zktest.Fail(zkinside.ErrSystem))), quick())
}

func TestDirectoryAfterACut(t *testing.T) {
	explore.Search(t, directoryBesideAnOperator(instancesFlicker, cut), quick())
}

func TestDirectoryAfterALoss(t *testing.T) {
	explore.Search(t, directoryBesideAnOperator(nodesAreMalformed, loss), quick())
}

// Servers that lag show nobody what never was.
func TestDirectoryWhoseFollowerLags(t *testing.T) {
	explore.Search(t, inEnsemble(directoryBesideAnOperator(instancesFlicker, cut), 0, time.Second), quick())
}

func TestDirectoryWhoseLeaderLags(t *testing.T) {
	explore.Search(t, inEnsemble(directoryBesideAnOperator(nodesAreMalformed, cut), time.Second), quick())
}
