package flight

import "time"

// View is a Record as it is at some moment.
type View struct {
	What
	Since     time.Time // when the acquire began
	Granted   time.Time // zero while the acquire goes on
	Stage     Stage
	Node      string
	Token     int64
	Ahead     int
	Seen      time.Time
	Neighbour Contender
	Holder    Contender
	Revoked   bool
	Err       error

	locally func() Standing
}

// IsHold reports whether this is a hold. Otherwise it is an acquire.
func (v *View) IsHold() bool { return v.Stage >= Held }

// Locate completes the view of an acquire that waits in the process. It takes a
// lock of the queue there, which is why Records does not do it for all.
func (v *View) Locate() {
	if v.locally == nil {
		return
	}
	at := v.locally()
	v.Ahead, v.Seen, v.Holder = at.Ahead, at.Seen, at.Holder
}

func (a *Record) viewLocked() View {
	v := View{
		What: a.what, Since: a.since, Granted: a.granted, Stage: a.stage, Node: a.node, Token: a.token,
		Ahead: a.ahead, Revoked: a.revoked, Err: a.lost, locally: a.locally,
	}
	if a.others != nil {
		v.Seen, v.Neighbour, v.Holder = a.others.seen, a.others.neighbour, a.others.holder
	}
	return v
}

// Records returns all acquires and holds that are under way, and holds that are
// lost and not released.
func (r *Recorder) Records() []View {
	r.mu.Lock()
	n := r.linked
	r.mu.Unlock()
	all := make([]View, 0, n+n/8) // not under the lock, which every acquire takes
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, list := range []*Record{&r.records, &r.losses} {
		for a := list.next; a != list; a = a.next {
			all = append(all, a.viewLocked())
		}
	}
	return all
}
