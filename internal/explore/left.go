package explore

import (
	"slices"
	"strings"

	"github.com/gocurator/curator/testing/zktest"
)

// checkLeft searches the servers for nodes, watches and sessions that the actors have
// left behind. Clients are open, except the clients that the search has closed.
func (w *World) checkLeft() {
	w.checkSessions()
	open := w.openSessions()
	for _, srv := range w.servers() {
		for _, watch := range srv.Watches() {
			if !w.mayStay(watch.Path) {
				w.Fail("at the end there is a watch at %s", watch.Path)
			}
		}
	}
	for _, n := range w.tree() {
		if owner := n.Stat.EphemeralOwner; owner != 0 && (!w.mayStay(n.Path) || !slices.Contains(open, owner)) {
			w.Fail("at the end there is the ephemeral node %s", n.Path)
		}
	}
}

func (w *World) mayStay(path string) bool {
	return slices.ContainsFunc(w.stays, func(stays string) bool { return strings.HasPrefix(path+"/", stays+"/") })
}

// checkSessions searches for sessions that no longer belong to a client.
func (w *World) checkSessions() {
	open := w.openSessions()
	left := slices.DeleteFunc(w.ahead().Sessions(), func(s zktest.SessionInfo) bool { return slices.Contains(open, s.ID) })
	if len(left) > 0 {
		w.Fail("at the end %d sessions belong to no client", len(left))
	}
}

// openSessions returns the sessions of the clients that are open.
func (w *World) openSessions() (ids []int64) {
	for _, a := range w.actors {
		if a.client != nil && !a.Closed() {
			ids = append(ids, a.session())
		}
	}
	return ids
}
