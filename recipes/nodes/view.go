package nodes

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
)

// View is a group at one time, and what has changed since the view before.
type View struct {
	Members []Member // all of them, ordered by their ids

	// Joined, Updated and Left are the differences to the view before. In the
	// first view, all members have joined. A member whose node was replaced
	// has left and joined; of one that has left, the last payload is told.
	Joined, Updated, Left []Member
}

// ErrTooManyMembers is the error of watching a group of more than sixty
// thousand members.
var ErrTooManyMembers = errors.New("too many members to watch")

const (
	maxMembers = 60_000
	maxCases   = 1 << 16 // of reflect.Select
)

// Changes returns the group as it is now, and then each time that it has
// changed, until ctx ends. The first view comes at once, also if the group is
// empty. If several changes come while the caller is busy, one view has them
// all: a slow caller misses no last state, and holds up nothing.
//
// The loop runs on the caller's goroutine, and costs a watch for the group and
// one for each member, which all iterators of a client share. An iterator
// outlasts outages and losses of the session; meanwhile the last view is old.
// It ends with an error in the second value if the server refuses it, such as
// for want of rights, or the client is closed. The end of ctx is no error.
func (g *Group) Changes(ctx context.Context) iter.Seq2[View, error] {
	return func(yield func(View, error) bool) {
		if err := g.usable(); err != nil {
			yield(View{}, g.errorOf("changes", err))
			return
		}
		w := &watcher{
			Group: g, yield: yield, all: map[string]sighting{},
			trouble: pauses.Growing{First: outagePause, Shortest: outagePause, Longest: 30 * time.Second},
		}
		defer w.stop()
		err := w.run(ctx)
		if err != nil && !w.left && ctx.Err() == nil {
			yield(View{}, g.errorOf("changes", err))
		}
	}
}

// watcher is the state of one loop over Changes.
type watcher struct {
	*Group
	yield func(View, error) bool
	left  bool // the caller has left the loop

	session *framework.Session
	all     map[string]sighting // by name
	last    []Member            // as told to the caller
	told    bool                // the caller has had a view
	trouble pauses.Growing
}

// errLeft ends the loop of a caller that has left.
var errLeft = errors.New("caller has left the loop")

func (w *watcher) run(ctx context.Context) error {
	for {
		err := w.client.InSession(ctx, w.watchInSession)
		w.stop()
		switch {
		case ctx.Err() != nil, w.left:
			return err
		case !isCurable(err), reason.Is(err, ErrTooManyMembers):
			return err
		case reason.Is(err, framework.ErrSessionLost), reason.Is(err, framework.ErrNotConnected):
		default:
			if err := w.trouble.Wait(ctx); err != nil {
				return err
			}
		}
		if err := w.client.WaitConnected(ctx); err != nil {
			return err
		}
	}
}

// stop stops all watches.
func (w *watcher) stop() {
	for _, seen := range w.all {
		seen.stop()
	}
	clear(w.all)
}

func (w *watcher) watchInSession(ctx context.Context) error {
	s, err := w.client.Session(ctx)
	if err != nil {
		return err
	}
	w.session = s
	for {
		if err := w.look(ctx); err != nil {
			return err
		}
	}
}

// look tells the caller how things stand, and waits until they change.
func (w *watcher) look(ctx context.Context) error {
	names, _, children, err := w.client.ChildrenW(ctx, w.path)
	if reason.Is(err, zk.ErrNoNode) {
		return w.awaitGroup(ctx)
	}
	if err != nil {
		return err
	}
	defer children.Stop()
	for { // until a member comes or goes
		if err := w.update(ctx, names); err != nil {
			return err
		}
		if err := w.tell(); err != nil {
			return err
		}
		if other, err := w.wait(ctx, children); err != nil || other {
			return err
		}
	}
}

// awaitGroup waits until the group's path exists.
func (w *watcher) awaitGroup(ctx context.Context) error {
	w.stop()
	there, _, watch, err := w.client.ExistsW(ctx, w.path)
	if err != nil {
		return err
	}
	defer watch.Stop()
	if there {
		return nil
	}
	if err := w.tell(); err != nil {
		return err
	}
	_, err = watch.Wait(ctx)
	return err
}

// update makes all have the nodes with these names: it reads those that are
// new or have changed.
func (w *watcher) update(ctx context.Context, names []string) error {
	if len(names) > maxMembers {
		return ErrTooManyMembers
	}
	named := make(map[string]bool, len(names))
	for _, name := range names {
		named[name] = true
	}
	for name, seen := range w.all {
		if !named[name] {
			seen.stop()
			delete(w.all, name)
		} else if seen.watch == nil || isClosed(seen.watch.Done()) {
			delete(w.all, name)
		}
	}
	unread := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, read := w.all[name]; return read })
	read, err := w.read(ctx, w.session, unread, true)
	for _, seen := range read {
		w.all[seen.ID] = seen
	}
	return err
}

// wait waits for a change. It reports whether members have come or gone.
func (w *watcher) wait(ctx context.Context, children *framework.Watch) (membersChanged bool, err error) {
	cases := make([]reflect.SelectCase, 0, 2+len(w.all))
	for _, ch := range []<-chan struct{}{ctx.Done(), children.Done()} {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ch)})
	}
	for _, seen := range w.all {
		if seen.watch != nil {
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(seen.watch.Done())})
		}
		if seen.Self {
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(seen.self.Done())})
		}
	}
	if len(cases) > maxCases { // thousands of members are of this process
		return false, ErrTooManyMembers
	}
	reflect.Select(cases)
	if ctx.Err() != nil {
		return false, reason.OfContext(ctx)
	}
	return isClosed(children.Done()), nil
}

// hideLeaving hides oneself from the moment that one leaves, however long the
// node stays.
func (w *watcher) hideLeaving() {
	for name, seen := range w.all {
		if seen.hasLeft() {
			seen.self, seen.Self, seen.hidden = nil, false, true
			w.all[name] = seen
		}
	}
}

// tell gives the caller a view, if it has not had this one.
func (w *watcher) tell() error {
	w.trouble.Reset()
	w.hideLeaving()
	now := listed(slices.Collect(maps.Values(w.all)))
	view := difference(w.last, now)
	if w.told && len(view.Joined)+len(view.Updated)+len(view.Left) == 0 {
		return nil
	}
	w.told, w.last = true, now
	if !w.yield(view.clone(), nil) {
		w.left = true
		return errLeft
	}
	return nil
}

// difference returns the view of now, after one with the members before. Both
// are ordered by ids.
func difference(before, now []Member) View {
	v := View{Members: now}
	for len(before) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(before) > 0 && before[0].ID < now[0].ID:
			v.Left, before = append(v.Left, before[0]), before[1:]
		case len(before) == 0 || now[0].ID < before[0].ID:
			v.Joined, now = append(v.Joined, now[0]), now[1:]
		default:
			v.compare(before[0], now[0])
			before, now = before[1:], now[1:]
		}
	}
	return v
}

// clone returns a view that the caller may keep and change.
func (v View) clone() View {
	for _, list := range []*[]Member{&v.Members, &v.Joined, &v.Updated, &v.Left} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Payload = bytes.Clone((*list)[i].Payload)
		}
	}
	return v
}

// compare notes what has become of a member that is in both views.
func (v *View) compare(before, now Member) {
	switch {
	case before.Czxid != now.Czxid && before.Czxid != 0 && now.Czxid != 0:
		v.Left, v.Joined = append(v.Left, before), append(v.Joined, now)
	case before.Mzxid != now.Mzxid, before.Self != now.Self, before.Unreadable != now.Unreadable:
		v.Updated = append(v.Updated, now)
	}
}
