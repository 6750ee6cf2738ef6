package nodes

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// View is a group at one time, and what has changed since the view before.
type View struct {
	Members []Member // all of them, ordered by their ids

	// Joined, Updated and Left are the differences to the view before. In the
	// first view, all members have joined. A member whose node was replaced
	// has left and joined; of one that has left, the last payload is told.
	Joined, Updated, Left []Member
}

// Changes returns the group as it is now, and then each time that it has
// changed, until ctx ends. The first view comes at once, also if the group is
// empty. If several changes come while the caller is busy, one view has them
// all: a slow caller misses no last state, and holds up nothing.
//
// The loop runs on the caller's goroutine, and costs a watch for the group and
// one for each member, which all iterators of a client share. An iterator
// outlasts outages, losses of the session and servers in trouble; meanwhile the
// last view is old. It ends with an error in the second value if the server
// refuses it, such as for want of rights, or the client is closed. The end of
// ctx is no error.
func (g *Group) Changes(ctx context.Context) iter.Seq2[View, error] {
	return func(yield func(View, error) bool) {
		if err := g.usable(); err != nil {
			yield(View{}, g.errorOf("changes", err))
			return
		}
		w := &watcher{Group: g, all: map[string]sighting{}, news: make(chan struct{}, 1)}
		w.loop = follow.Loop{
			Recovery: follow.Recovery{Client: g.client, What: "view of a group", About: event.Of(g.client, g.path).Path},
			Failed:   w.stop,
		}
		defer w.stop()
		named := func(err error) error { return g.errorOf("changes", err) }
		follow.Each(ctx, &w.loop, yield, named, w.look)
	}
}

// watcher is the state of one loop over Changes.
type watcher struct {
	*Group
	loop follow.Loop
	all  map[string]sighting // the nodes that were read, by name
	news chan struct{}       // capacity 1: a watch is done, or a member has left
	last []Member            // the caller's last view
	told bool                // the caller has had a view
}

// stop stops all watches.
func (w *watcher) stop() {
	for _, seen := range w.all {
		seen.stop()
	}
	clear(w.all)
}

// look tells the caller how things stand, and waits until they change.
func (w *watcher) look(ctx context.Context, s *framework.Session, tell func(View) error) error {
	names, _, children, err := w.client.ChildrenW(ctx, w.path)
	if reason.Is(err, zk.ErrNoNode) {
		return w.awaitGroup(ctx, tell)
	}
	if err != nil {
		return err
	}
	defer children.Stop()
	defer children.AfterFunc(w.wake)()
	for { // each turn reads the members that have changed
		if err := w.update(ctx, s, names); err != nil {
			return err
		}
		if err := w.tell(tell); err != nil {
			return err
		}
		select {
		case <-w.news:
		case <-ctx.Done():
			return reason.OfContext(ctx)
		}
		if isClosed(children.Done()) {
			return nil
		}
	}
}

// wake has the loop look for what has changed.
func (w *watcher) wake() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// awaitGroup waits until the group's path exists.
func (w *watcher) awaitGroup(ctx context.Context, tell func(View) error) error {
	w.stop()
	there, _, watch, err := w.client.ExistsW(ctx, w.path)
	if err != nil {
		return err
	}
	defer watch.Stop()
	if there {
		return nil
	}
	if err := w.tell(tell); err != nil {
		return err
	}
	_, err = watch.Wait(ctx)
	return err
}

// update makes all have the nodes with these names: it reads those that are
// new or have changed.
func (w *watcher) update(ctx context.Context, s *framework.Session, names []string) error {
	named := make(map[string]bool, len(names))
	for _, name := range names {
		named[name] = true
	}
	for name, seen := range w.all {
		if !named[name] || seen.isOld() {
			seen.stop()
			delete(w.all, name)
		}
	}
	unread := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, read := w.all[name]; return read })
	read, err := w.readWatched(ctx, s, unread)
	for _, seen := range read {
		seen.whenOld(w.wake)
		w.all[seen.ID] = seen
	}
	return err
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
func (w *watcher) tell(tell func(View) error) error {
	w.loop.Recovered()
	w.hideLeaving()
	now := listed(slices.Collect(maps.Values(w.all)))
	view := difference(w.last, now)
	if w.told && len(view.Joined)+len(view.Updated)+len(view.Left) == 0 {
		return nil
	}
	w.told, w.last = true, now
	return tell(view.clone())
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
