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
	unreadable, err := d.unreadable(step)
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.now.next()
	s.Interrupted, s.Err = !step.Synced || err != nil, err
	if err == nil {
		s.Zxid, s.Filled = step.Zxid, true
	}
	now := d.clockLocked(s.Interrupted)
	for _, one := range seen {
		switch {
		case one.folder:
			d.folderLocked(s, one.at)
		case !one.gone:
			d.seenLocked(s, one)
		case err != nil || !unreadable[one.at].isTrouble():
			d.goneLocked(s, one.at, now)
		}
	}
	if err == nil { // nothing is known if not, and all is kept
		d.unreadableLocked(s, unreadable, now)
	}
	d.expireLocked(s, now)
	d.publishLocked(s)
}

// clockLocked returns the time by which entries go. It stands still while the
// directory is interrupted: nobody knows then who has come back.
func (d *Directory) clockLocked(interrupted bool) time.Time {
	if d.now.Interrupted && !interrupted {
		d.lost = time.Since(d.clock)
	}
	if !d.now.Interrupted || !interrupted {
		d.clock = time.Now().Add(-d.lost)
	}
	return d.clock
}

// unreadable returns the nodes that may not be read, and the refusal to read the
// directory's own path, without which nothing is known. A service that may not be
// read spoils nothing for the others.
func (d *Directory) unreadable(step cache.Step) (all map[place]*Bad, refusal error) {
	all = map[place]*Bad{}
	for path, err := range step.Unreadable {
		if path == d.root {
			refusal = err
			continue
		}
		at, ok := d.place(path)
		_, id := znode.Split(path)
		if !ok {
			at = place{"", path} // others may have its name
		}
		all[at] = &Bad{Service: at.service, ID: id, Path: path, Err: err, at: at}
	}
	return all, refusal
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
func (d *Directory) goneLocked(s *Snapshot, at place, now time.Time) {
	s.setBad(at, nil)
	if s.entry(at) != nil {
		d.leaving[at] = now.Add(d.cfg.grace)
	}
}

// unreadableLocked notes which nodes may not be read, or could not. Each is told of
// once, until it can be read again, or is gone.
func (d *Directory) unreadableLocked(s *Snapshot, all map[place]*Bad, now time.Time) {
	for _, b := range d.now.Bad {
		at := b.at
		is, still := all[at]
		switch {
		case b.czxid != 0:
		case still && is.isTrouble() == b.isTrouble():
			delete(all, at)
		case !still && s.bad(at) == b:
			d.goneLocked(s, at, now)
		}
	}
	for at, b := range all {
		delete(d.leaving, at)
		if !b.isTrouble() {
			s.setEntry(at, nil)
		}
		d.badLocked(s, at, b)
	}
}

// expireLocked takes the entries away whose time is over. While the directory is
// interrupted, nobody knows whether their nodes have come back.
func (d *Directory) expireLocked(s *Snapshot, now time.Time) {
	if s.Interrupted {
		return
	}
	for at := range d.leaving {
		if s.entry(at).Disabled { // nobody picks it, and it has said that it would go
			delete(d.leaving, at)
			s.setEntry(at, nil)
		}
	}
	guarded := d.guardedLocked(s)
	for at, end := range d.leaving {
		switch e := s.entry(at); {
		case now.Before(end):
		case guarded[at.service] && !e.Suspect:
			suspect := *e
			suspect.Suspect = true
			s.setEntry(at, &suspect)
			d.leaving[at] = end.Add(d.cfg.keep - d.cfg.grace)
		default:
			delete(d.leaving, at)
			s.setEntry(at, nil)
		}
	}
}

// guardedLocked returns the services of which too many instances are gone.
func (d *Directory) guardedLocked(s *Snapshot) map[string]bool {
	if d.cfg.percent == 0 || len(d.leaving) == 0 {
		return nil
	}
	gone := map[string]int{}
	for at := range d.leaving {
		gone[at.service]++
	}
	guarded := map[string]bool{}
	for service, n := range gone {
		guarded[service] = n*100 > d.cfg.percent*len(s.Of(service))
	}
	return guarded
}

// publishLocked makes a snapshot the present one.
func (d *Directory) publishLocked(s *Snapshot) {
	s.Suspects = 0
	for _, e := range s.Entries {
		s.Suspects += oneIf(e.Suspect)
	}
	if s.Suspects > 0 && d.now.Suspects == 0 {
		d.events.Emit(eventGuard, nil)
	}
	d.now, s = s, d.now
	d.tellLocked(s, false)
	d.armLocked()
	d.life.Tell()
}

// armLocked has the next entry taken away in time.
func (d *Directory) armLocked() {
	d.stopTimerLocked()
	if d.now.Interrupted || len(d.leaving) == 0 {
		return
	}
	first := slices.MinFunc(slices.Collect(maps.Values(d.leaving)), time.Time.Compare)
	d.timer = time.AfterFunc(time.Until(first.Add(d.lost)), d.expire)
}

// expire is called when the time of an entry is over.
func (d *Directory) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer == nil {
		return // the directory has ended, or is interrupted
	}
	s := d.now.next()
	d.expireLocked(s, d.clockLocked(false))
	d.publishLocked(s)
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

func (d *Directory) stopTimerLocked() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
