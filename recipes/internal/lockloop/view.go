package lockloop

import (
	"slices"
	"time"
)

// view is a listing that many contenders of one kind look at. It is put in
// order once, so that each of them finds its place in a short time. It does not
// change.
type view struct {
	at       time.Time // the time at which the listing came
	names    []string  // the listing, unsorted
	queue    []Entry   // sorted by admission
	blockers []int     // for each entry, the nearest one ahead that blocks a contender of the kind, or none
	repeated map[string]bool
}

const none = -1

// viewOf returns the view for contenders of the kind ours.
func viewOf(names []string, at time.Time, kinds []string, ours string, blocks Blocks) *view {
	v := &view{at: at, names: names, queue: slices.Collect(Entries(names, kinds...))}
	slices.SortFunc(v.queue, compare)
	v.blockers = make([]int, len(v.queue))
	nearest := none
	ids := make(map[string]bool, len(v.queue))
	for i, e := range v.queue {
		v.blockers[i] = nearest
		if blocks(ours, e.Kind) {
			nearest = i
		}
		v.noteID(ids, createID(e.Node, e.Kind))
	}
	return v
}

func (v *view) noteID(ids map[string]bool, id string) {
	if id == "" || !ids[id] {
		ids[id] = true
		return
	}
	if v.repeated == nil {
		v.repeated = map[string]bool{}
	}
	v.repeated[id] = true
}

// suits reports whether the view tells a contender all that it has to know. It
// does not where the order depends on czxids, or if the contender's create may
// have made a second node.
func (v *view) suits(ours Entry) bool {
	return !ours.overflowed() && !v.repeated[createID(ours.Node, ours.Kind)]
}

// standing is StandingOf. It reports false if ours is not in the queue.
func (v *view) standing(ours Entry) (s Standing, found bool) {
	i, found := slices.BinarySearchFunc(v.queue, ours, compare)
	if !found {
		return Standing{}, false
	}
	s = Standing{Ahead: i, Length: len(v.queue), First: v.queue[0].Node}
	if b := v.blockers[i]; b != none {
		s.Blocker = v.queue[b].Node
	}
	return s, true
}
