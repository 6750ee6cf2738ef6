package zktest

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Ensemble is a replicated ZooKeeper: several servers with one history. Only the leader
// makes transactions and decides on sessions. Followers answer reads from the
// transactions that they have applied so far. An ensemble serves clients while a majority
// of its members is up and connected. All methods may be called from any goroutine.
type Ensemble struct {
	*cluster
	members []*Member

	// Guarded by mu.
	leader      *Member // the leader of the last epoch, until it steps down
	hadMajority bool    // a majority followed the leader at the last check
	election    *alarm
	ping        *alarm
	pingAt      time.Time  // when the alarm ping goes off
	log         requestLog // the requests to all members
}

// servers returns the members as servers.
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

// Followers returns the members that serve clients and believe that they follow the
// leader.
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

// countFollowersLocked returns how many members follow a leader and reach it. The leader
// counts, too.
func (e *Ensemble) countFollowersLocked(leader *Member) (n int) {
	for _, m := range e.members {
		if m.followsLocked(leader) && m.reachesLocked(leader) {
			n++
		}
	}
	return n
}

// isMajority reports whether n members are a majority.
func (e *Ensemble) isMajority(n int) bool { return n > len(e.members)/2 }

// forever is a lag that lasts until the next call of Lag.
const forever time.Duration = math.MaxInt64

// Member is a server of an [Ensemble]. Methods that read show the tree of this member and
// the sessions of the ensemble. Methods that write, such as [Server.Create], go through
// the leader. [Server.Close] removes the member for good.
type Member struct {
	*Server
	id int

	// Guarded by mu.
	leader              *Member // the member itself if it leads; nil while it looks for a leader and serves no client
	epoch               int64   // the epoch of that leader: the same member may lead again later
	part                int     // the part of a partitioned network: members in the same part reach each other
	lag                 time.Duration
	resigned            bool     // the member must not win the next election
	queue               []*entry // transactions to apply
	received            int      // how many transactions of the queue have arrived
	applying            *alarm   // applies the next transaction
	givingUp            *alarm   // gives up the leader, or steps down as the leader
	pending             []*exchange
	touchTable          map[*session]struct{} // sessions whose last contact the leader does not know yet
	disconnectedInPause bool                  // without its pause, the member would have left its leader
	deposed             *deposedLeader
}

// deposedLeader is the state of a leader that is cut off, while the other members have
// elected another leader. The deposed leader continues until it notices that it has lost
// its majority.
type deposedLeader struct {
	sessions map[int64]*session // the sessions at that election; some may have ended since
}

// ID returns the number of the member, counted from 1.
func (m *Member) ID() int { return m.id }

// behind implements Behind of package zkinside.
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
	return leader != nil && m.followsLocked(leader) && m.reachesLocked(leader) &&
		m.ens.isMajority(m.ens.countFollowersLocked(leader))
}

// admitsLocked reports whether the session may connect to this member; see moveTo.
func (m *Member) admitsLocked(session int64) bool {
	to := m.moving[session]
	if to == m {
		delete(m.moving, session)
	}
	return to == nil || to == m
}
