package zktest

import (
	"time"
)

// WithReconfig switches reconfig on, the request that changes which members an
// [Ensemble] has. By default it is answered with Code(-123), as on a real
// server. A standalone server answers [ErrUnimplemented] with the option.
//
// Only a client that may write /zookeeper/config can reconfigure: the super
// user, see [WithSuperUser], or a client to whom the super user has given the
// permission.
func WithReconfig() Option {
	return func(c *config) { c.reconfig = true }
}

// WithSpareMembers starts n more members, which are not in the ensemble's first
// configuration, and can join by reconfig: see [WithReconfig]. Their numbers
// follow the other members'. A spare member follows the leader and serves
// clients, but has no vote. The default is none. [Run] and [Start] refuse the
// option.
func WithSpareMembers(n int) Option {
	return func(c *config) {
		if n < 0 {
			c.reject("%d spare members", n)
		}
		c.spares = n
	}
}

// setFirstViewLocked makes the configuration that the ensemble begins with. The
// ports between servers are made up.
func (e *Ensemble) setFirstViewLocked() {
	const quorumPort, electionPort = 20000, 30000
	first := ensembleView{servers: make(map[int64]serverSpec)}
	for _, m := range e.members[:len(e.members)-e.cfg.spares] {
		first.servers[int64(m.id)] = serverSpec{
			addrs:  []serverAddr{{loopbackHost, quorumPort + m.id, electionPort + m.id}},
			client: m.Addr(),
		}
	}
	e.setViewLocked(first)
}

// setViewLocked replaces the configuration. It counts the voters, because there
// are many more questions for a majority than configurations.
func (e *Ensemble) setViewLocked(view ensembleView) {
	e.view, e.voterCount = view, view.voters()
}

// confirmViewLocked is what the first leader does: the version becomes the
// first zxid of its epoch, unless reconfig is disabled, and all members show
// the configuration.
func (e *Ensemble) confirmViewLocked() {
	if e.cfg.reconfig {
		e.view.version = e.epoch << 32
	}
	text, now := e.view.text(), e.leader.clock.nowMillis()
	for _, m := range e.members {
		m.tree.InitConfig(text, e.view.version, now)
	}
}

// canDecideLocked reports whether a majority of the voters of a new
// configuration follows the leader.
func (e *Ensemble) canDecideLocked(next ensembleView) bool {
	n := 0
	for _, m := range e.members {
		if next.has(m.id) && !next.observes(m.id) && m.followsLocked(e.leader) && m.reachesLocked(e.leader) {
			n++
		}
	}
	return n > next.voters()/2
}

// adoptLocked puts a new configuration in force. Members that become observers,
// or cease to be, drop their clients and join anew; if the leader has lost its
// vote, all do, and an election follows. That takes a tick, so that the client
// hears of its success before.
func (e *Ensemble) adoptLocked(next ensembleView) {
	before := e.view
	e.setViewLocked(next)
	for _, m := range e.members {
		if before.observes(m.id) != next.observes(m.id) {
			e.changing = append(e.changing, m)
		}
	}
	e.updateLocked()
	leaderGoes := e.leader != nil && !e.leader.votesLocked()
	if e.roleChange != nil || len(e.changing) == 0 && !leaderGoes {
		return
	}
	e.roleChange = e.afterLocked(max(e.cfg.tick, time.Millisecond), func() {
		e.mu.Lock()
		defer e.unlock()
		e.roleChange = nil
		e.changeRolesLocked()
	})
}

// changeRolesLocked lets the members begin anew in their new roles. A paused
// one does so when it goes on.
func (e *Ensemble) changeRolesLocked() {
	var paused []*Member
	for _, m := range e.changing {
		switch {
		case m.paused:
			paused = append(paused, m)
		case m.leader != nil:
			m.startLookingLocked()
		}
	}
	e.changing = paused
	if e.leader != nil && !e.leader.votesLocked() && !e.leader.paused {
		e.leader.startLookingLocked()
	}
	e.updateLocked()
}
