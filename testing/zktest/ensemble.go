package zktest

import (
	"slices"
	"strings"
	"time"
)

// Ensemble is several servers with one history, as a replicated ZooKeeper. One
// of them leads: it alone makes transactions and decides on sessions. The
// others follow, and answer reads from what they have applied so far. An
// ensemble serves while a majority of its members is up and connected. All
// methods may be called from any goroutine.
type Ensemble struct {
	*cluster
	members []*Member

	// Guarded by mu.
	leader      *Member // the one of the last epoch, until it steps down
	hadMajority bool    // a majority followed the leader when somebody last looked
	election    *alarm
	ping        *alarm
	pingAt      time.Time  // ping goes off then
	log         requestLog // the requests to all members
}

// servers returns the members as what they are besides.
func (e *Ensemble) servers() []*Server {
	var servers []*Server
	for _, m := range e.members {
		servers = append(servers, m.Server)
	}
	return servers
}

// Members returns the members in the order of their ids, running or not.
func (e *Ensemble) Members() []*Member { return slices.Clone(e.members) }

// Leader returns the leader, or nil if no member leads with a majority.
func (e *Ensemble) Leader() *Member {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.leader == nil || !e.leader.canCommitLocked() {
		return nil
	}
	return e.leader
}

// Followers returns the members that serve, and follow the leader as far as
// they know.
func (e *Ensemble) Followers() []*Member {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.members), func(m *Member) bool {
		return m.leader == nil || m.leader == m
	})
}

// ConnectString returns the addresses of all members, separated by commas.
// Without [WithTCP] only [Ensemble.Dialer] understands the addresses.
func (e *Ensemble) ConnectString() string {
	var addrs []string
	for _, m := range e.members {
		addrs = append(addrs, m.Addr())
	}
	return strings.Join(addrs, ",")
}

// serverAt returns the member with the address, or nil.
func (e *Ensemble) serverAt(address string) *Server {
	for _, m := range e.members {
		if m.Addr() == address || m.address == address {
			return m.Server
		}
	}
	return nil
}

// countFollowersLocked returns how many members follow a leader and reach it,
// itself included.
func (e *Ensemble) countFollowersLocked(leader *Member) (n int) {
	for _, m := range e.members {
		if m.followsLocked(leader) && m.reachesLocked(leader) {
			n++
		}
	}
	return n
}

// isMajority reports whether n members can decide.
func (e *Ensemble) isMajority(n int) bool { return n > len(e.members)/2 }
