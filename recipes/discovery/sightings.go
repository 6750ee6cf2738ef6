package discovery

import (
	"maps"
	"slices"
	"time"

	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/cache"
)

// see decodes the nodes of a step. It calls the user's codec, and so holds no mutex.
func (d *Directory) see(step cache.Step) (all []sighting) {
	for _, ch := range step.Changes {
		node := ch.New
		if ch.Type == cache.Deleted {
			node = ch.Old
		}
		at, ok := d.placeOf(node.Path)
		switch {
		case !ok:
		case ch.Type == cache.Deleted:
			all = append(all, sighting{at: at, gone: true})
		default:
			all = append(all, see(d.codec, at, node))
		}
	}
	return append(all, d.folders(step)...)
}

// folders returns the parents of new nodes. The cache does not read a node again when the
// node gets its first child.
func (d *Directory) folders(step cache.Step) (all []sighting) {
	for _, ch := range step.Changes {
		if ch.Type != cache.Created || ch.New.Path == d.root {
			continue
		}
		parent, _ := znode.Split(ch.New.Path)
		if at, ok := d.placeOf(parent); ok {
			all = append(all, sighting{at: at, folder: true})
		}
	}
	return all
}

// placeOf returns service and ID of a node, or false if the node cannot be an instance.
func (d *Directory) placeOf(path string) (place, bool) {
	if path == d.root {
		return place{}, false
	}
	return d.place(path)
}

// apply applies a step of the cache to the directory.
func (d *Directory) apply(step cache.Step, seen []sighting) {
	unreadable, refusal := d.unreadable(step), step.Unreadable[d.root] // if the root is unreadable, keep everything
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.now.next()
	s.Interrupted, s.Err = !step.Synced || refusal != nil, refusal
	if refusal == nil {
		s.Zxid, s.Filled = step.Zxid, true
	}
	for _, one := range seen {
		switch {
		case one.folder:
			d.folderLocked(s, one.at)
		case !one.gone:
			d.seenLocked(s, one)
		case refusal != nil || unreadable[one.at] == nil:
			d.goneLocked(s, one.at)
		}
	}
	if refusal == nil {
		d.unreadableLocked(s, unreadable)
	}
	if d.now.Interrupted && !s.Interrupted { // the registering processes may have been interrupted, too
		for at := range d.leaving {
			d.leaving[at] = time.Now().Add(d.cfg.grace)
		}
	}
	d.publishLocked(s)
}

// unreadable returns the nodes below the directory's root that could not be read.
func (d *Directory) unreadable(step cache.Step) map[place]*Bad {
	all := map[place]*Bad{}
	for path, err := range step.Unreadable {
		if path == d.root {
			continue
		}
		at, ok := d.place(path)
		_, id := znode.Split(path)
		if !ok {
			at = place{"", path} // the name alone may not be unique
		}
		all[at] = &Bad{Service: at.service, ID: id, Path: path, Err: err, at: at}
	}
	return all
}

// seenLocked takes the current state of a node. A malformed node ends its instance at
// once.
func (d *Directory) seenLocked(s *Snapshot, one sighting) {
	was := s.entry(one.at)
	if e := one.entry; e != nil && was != nil && e.goesOnWith(was, d.cfg.grace) {
		e.Since = was.Since
	}
	delete(d.leaving, one.at)
	s.setEntry(one.at, one.entry)
	d.badLocked(s, one.at, one.bad)
}

// badLocked sets or clears the Bad node at a place.
func (d *Directory) badLocked(s *Snapshot, at place, b *Bad) {
	s.setBad(at, b)
	if b != nil {
		d.events.At(b.Path).Emit(eventBad, b.Err)
	}
}

// folderLocked notes that a node has children. So the node is not malformed, but a
// folder.
func (d *Directory) folderLocked(s *Snapshot, at place) {
	if b := s.bad(at); b != nil && b.czxid != 0 {
		s.setBad(at, nil)
	}
}

// goneLocked takes the deletion of a node. A later sighting of the same step may replace
// the node.
func (d *Directory) goneLocked(s *Snapshot, at place) {
	s.setBad(at, nil)
	if s.entry(at) != nil {
		d.leaving[at] = time.Now().Add(d.cfg.grace)
	}
}

// unreadableLocked takes the nodes that cannot be read. Their instances stay unchanged.
// Each node is reported once until it can be read again or was deleted.
func (d *Directory) unreadableLocked(s *Snapshot, all map[place]*Bad) {
	for _, b := range d.now.Bad {
		switch isStill := all[b.at] != nil; {
		case b.czxid != 0:
		case isStill:
			delete(all, b.at)
		case s.bad(b.at) == b:
			d.goneLocked(s, b.at)
		}
	}
	for at, b := range all {
		d.badLocked(s, at, b)
	}
}

// expireLocked removes the entries whose node was deleted, if their grace is over or the
// instance was drained. During an interruption it removes nothing, because the nodes may
// have been re-created.
func (d *Directory) expireLocked(s *Snapshot) {
	if s.Interrupted {
		return
	}
	for at, end := range d.leaving {
		if !time.Now().Before(end) || s.entry(at).Disabled {
			delete(d.leaving, at)
			s.setEntry(at, nil)
		}
	}
}

// publishLocked makes s the current snapshot, and sets the timer for the next entry to
// expire.
func (d *Directory) publishLocked(s *Snapshot) {
	d.expireLocked(s)
	d.now, s = s, d.now
	d.tellLocked(s, false)
	d.life.Tell()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if !d.now.Interrupted && len(d.leaving) > 0 {
		first := slices.MinFunc(slices.Collect(maps.Values(d.leaving)), time.Time.Compare)
		d.timer = time.AfterFunc(time.Until(first), d.expire)
	}
}

// expire is called when the grace of an entry is over. The entry stays if the directory
// is interrupted or closed.
func (d *Directory) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.now.Interrupted {
		d.publishLocked(d.now.next())
	}
}

// stop marks the directory as interrupted for good. No entry is removed from then on.
func (d *Directory) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.now.next()
	s.Interrupted = true
	d.publishLocked(s)
	d.tellLocked(s, true)
}
