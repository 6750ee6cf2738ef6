package discovery

import (
	"maps"
	"slices"
	"time"

	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/cache"
)

// see returns what a step tells of each node. It calls the user's codec, and so
// nothing is locked meanwhile.
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

// folders returns the nodes below which there is a new one. The cache does not
// read a node again when it gets its first child.
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

// placeOf returns whose a node is, and false if it cannot be an instance's.
func (d *Directory) placeOf(path string) (place, bool) {
	if path == d.root {
		return place{}, false
	}
	return d.place(path)
}

// apply makes a step of the cache one of the directory.
func (d *Directory) apply(step cache.Step, seen []sighting) {
	unreadable, refusal := d.unreadable(step), step.Unreadable[d.root] // without its own path, nothing is known
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
	if refusal == nil { // all is kept otherwise
		d.unreadableLocked(s, unreadable)
	}
	if d.now.Interrupted && !s.Interrupted { // registrants need a moment, too: their time begins again
		for at := range d.leaving {
			d.leaving[at] = time.Now().Add(d.cfg.grace)
		}
	}
	d.publishLocked(s)
}

// unreadable returns the nodes below the directory's own path that may not be read,
// or could not.
func (d *Directory) unreadable(step cache.Step) map[place]*Bad {
	all := map[place]*Bad{}
	for path, err := range step.Unreadable {
		if path == d.root {
			continue
		}
		at, ok := d.place(path)
		_, id := znode.Split(path)
		if !ok {
			at = place{"", path} // others may have its name
		}
		all[at] = &Bad{Service: at.service, ID: id, Path: path, Err: err, at: at}
	}
	return all
}

// seenLocked takes a node as it is now. One that cannot be decoded ends the
// instance at once.
func (d *Directory) seenLocked(s *Snapshot, one sighting) {
	was := s.entry(one.at)
	if e := one.entry; e != nil && was != nil && e.goesOnWith(was, d.cfg.grace) {
		e.Since = was.Since
	}
	delete(d.leaving, one.at)
	s.setEntry(one.at, one.entry)
	d.badLocked(s, one.at, one.bad)
}

// badLocked notes that a node is no instance, or is none any more if b is nil.
func (d *Directory) badLocked(s *Snapshot, at place, b *Bad) {
	s.setBad(at, b)
	if b != nil {
		d.events.At(b.Path).Emit(eventBad, b.Err)
	}
}

// folderLocked notes that there is something below a node, which therefore need
// not be an instance.
func (d *Directory) folderLocked(s *Snapshot, at place) {
	if b := s.bad(at); b != nil && b.czxid != 0 {
		s.setBad(at, nil)
	}
}

// goneLocked takes the end of a node, which another one may have replaced in the
// same step.
func (d *Directory) goneLocked(s *Snapshot, at place) {
	s.setBad(at, nil)
	if s.entry(at) != nil {
		d.leaving[at] = time.Now().Add(d.cfg.grace)
	}
}

// unreadableLocked notes which nodes cannot be read, which says nothing of their
// instances: they stay as they were. Each node is told of once, until it can be read
// again, or is gone.
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

// expireLocked takes the entries away whose time is over, and those that drain:
// nobody picks these, and they have said that they would go. While the directory is
// interrupted, nobody knows whether their nodes have come back.
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

// publishLocked makes a snapshot the present one, and has the next entry taken away
// in time.
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

// expire is called when the time of an entry is over. If the directory was interrupted
// or closed when the timer fired, the entry stays, and there is nothing to tell.
func (d *Directory) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.now.Interrupted {
		d.publishLocked(d.now.next())
	}
}

// stop says that what the directory has may be old from now on. Nothing is taken
// away any more.
func (d *Directory) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.now.next()
	s.Interrupted = true
	d.publishLocked(s)
	d.tellLocked(s, true)
}
