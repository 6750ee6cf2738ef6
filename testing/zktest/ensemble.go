package zktest

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Ensemble is several servers with one history, as a replicated ZooKeeper. Only the
// leader makes transactions and decides when sessions end. The followers answer reads
// from the transactions that they have applied so far. An ensemble serves while a
// majority of its members is up and connected. All methods may be called from any
// goroutine.
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
// The first call opens the ports, as [Server.Addr] does.
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
		if addr, _ := m.port(); addr == address || m.address == address {
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

// forever is a lag that does not end by itself.
const forever time.Duration = math.MaxInt64

// Member is a server of an [Ensemble]. Inspection shows what this member has
// applied; its sessions are the ensemble's. Methods that write, such as
// [Server.Create], go through the leader. [Server.Close] takes the member away
// for good.
type Member struct {
	*Server
	id int

	// Guarded by mu.
	leader              *Member // whom it follows, itself if it leads; nil while it looks for a leader and does not serve
	epoch               int64   // the epoch of that leader: the same member may lead again later
	part                int     // the part of a partitioned network: members in the same part reach each other
	lag                 time.Duration
	resigned            bool     // it does not want to win the next election
	queue               []*entry // transactions to apply
	received            int      // how many of them have arrived
	applying            *alarm   // for the next one
	givingUp            *alarm   // gives up the leader, or steps down as the leader
	pending             []*exchange
	touchTable          map[*session]struct{} // clients whose signs of life the leader does not know yet
	disconnectedInPause bool                  // it would have given up its leader, had it not been paused
	deposed             *deposedLeader
}

// deposedLeader is what a leader has kept that is cut off from the others while
// they have elected another one. It goes on until it notices that it has no
// majority any more.
type deposedLeader struct {
	sessions map[int64]*session // the sessions at that election; some may have ended since
}

// ID returns the number of the member, counted from 1.
func (m *Member) ID() int { return m.id }

// behind is Behind of package zkinside.
func (m *Member) behind() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue)
}

// reachesLocked reports whether two members can talk to each other.
func (m *Member) reachesLocked(o *Member) bool {
	return m.upLocked() && o.upLocked() && m.part == o.part && !m.paused && !o.paused
}

// followsLocked reports whether the member follows that leader, in its present
// epoch.
func (m *Member) followsLocked(leader *Member) bool {
	return m.leader == leader && leader.leader == leader && m.epoch == leader.epoch
}

// canCommitLocked reports whether a write through this member can become a
// transaction.
func (m *Member) canCommitLocked() bool {
	leader := m.ens.leader
	return leader != nil && m.followsLocked(leader) && m.reachesLocked(leader) && m.ens.isMajority(m.ens.countFollowersLocked(leader))
}

// admitsLocked reports whether the session may come here, see moveTo.
func (m *Member) admitsLocked(session int64) bool {
	to := m.moving[session]
	if to == m {
		delete(m.moving, session)
	}
	return to == nil || to == m
}
