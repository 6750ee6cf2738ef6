package zktest

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Disruption is something that [Random] does to servers and sessions. It chooses one of
// them by itself; if there is nothing to choose from, nothing happens.
type Disruption struct {
	name     string
	ensemble bool // it makes no sense for a server on its own
	do       func(sim *simulation, name string)
}

// The deeds that are over at once.
var (
	// ExpireSomeone is [Server.ExpireSession].
	ExpireSomeone = toSomeone("expire", (*Server).ExpireSession)

	// CutSomeone is [Server.CutSession].
	CutSomeone = toSomeone("cut", (*Server).CutSession)

	// ReplaceSomeone is [Server.ReplaceSession], and cuts the connection.
	ReplaceSomeone = toSomeone("replace", func(s *Server, id int64) bool {
		s.ReplaceSession(id)
		return s.CutSession(id)
	})

	// ReapNow is [Server.ReapContainers].
	ReapNow = toServer("reap", func(s *Server) { s.ReapContainers() })

	// ResignLeader is [Member.Resign] of the leader.
	ResignLeader = Disruption{"resign", true, func(sim *simulation, name string) {
		if leader := sim.ens.Leader(); leader != nil {
			sim.begin(fmt.Sprintf("%s %d", name, leader.ID()), 0, nil)
			leader.Resign()
		}
	}}
)

// JumpClockBy is [Server.JumpClock] by at most d.
func JumpClockBy(d time.Duration) Disruption {
	return Disruption{name: "jump", do: func(sim *simulation, name string) {
		s := sim.someServer()
		by := time.Duration(sim.rng.Int64N(int64(max(d, 1))))
		sim.begin(fmt.Sprintf("%s %s by %v", name, s.label(), by), 0, nil)
		s.JumpClock(by)
	}}
}

// StopFor stops a server, and starts it again after at most d.
func StopFor(d time.Duration) Disruption {
	return lasting("stop", d, (*Server).Stop, (*Server).Restart)
}

// FreezeFor freezes a server, and lets it go on after at most d.
func FreezeFor(d time.Duration) Disruption {
	return lasting("freeze", d, (*Server).Pause, (*Server).Resume)
}

// PartitionFor is [Server.PartitionAll], between a server and all clients, and
// [Server.Heal] after at most d.
func PartitionFor(d time.Duration) Disruption {
	return lasting("partition", d, (*Server).PartitionAll, (*Server).Heal)
}

// RefuseFor makes a server refuse connections for at most d.
func RefuseFor(d time.Duration) Disruption {
	return lasting("refuse", d,
		func(s *Server) { s.RefuseConnections(true) }, func(s *Server) { s.RefuseConnections(false) })
}

// PauseSomeoneFor is [Server.PauseSession], for at most d.
func PauseSomeoneFor(d time.Duration) Disruption {
	return Disruption{name: "pause", do: func(sim *simulation, name string) {
		if id := sim.someSession(); id != 0 {
			s := sim.servers[0]
			sim.begin(fmt.Sprintf("%s %#x", name, id), d, func() { s.ResumeSession(id) })
			s.PauseSession(id)
		}
	}}
}

// LagFor makes a member of an ensemble lag by at most lag, for at most d.
func LagFor(lag, d time.Duration) Disruption {
	return Disruption{"lag", true, func(sim *simulation, name string) {
		m := sim.someServer().member
		by := time.Duration(sim.rng.Int64N(int64(max(lag, 1))))
		sim.begin(fmt.Sprintf("%s %s by %v", name, m.label(), by), d, func() { m.Lag(0) })
		m.Lag(by)
	}}
}

// IsolateFor cuts a member of an ensemble off from the others. The end, after at most
// d, is that of all partitions.
func IsolateFor(d time.Duration) Disruption {
	return Disruption{"isolate", true, func(sim *simulation, name string) {
		m := sim.someServer().member
		sim.begin(fmt.Sprintf("%s %s", name, m.label()), d, sim.ens.Heal)
		m.Isolate()
	}}
}

// Custom is a deed of the test's own. All that is random in it must be drawn from the
// argument, and do must not wait.
func Custom(name string, do func(*rand.Rand)) Disruption {
	return Disruption{name: name, do: func(sim *simulation, name string) {
		sim.begin(name, 0, nil)
		do(sim.rng)
	}}
}

func toSomeone(name string, do func(*Server, int64) bool) Disruption {
	return Disruption{name: name, do: func(sim *simulation, name string) {
		if id := sim.someSession(); id != 0 {
			s := sim.home(id)
			sim.begin(fmt.Sprintf("%s %#x", name, id), 0, nil)
			do(s, id)
		}
	}}
}

func toServer(name string, do func(*Server)) Disruption {
	return Disruption{name: name, do: func(sim *simulation, name string) {
		s := sim.someServer()
		sim.begin(fmt.Sprintf("%s %s", name, s.label()), 0, nil)
		do(s)
	}}
}

func lasting(name string, d time.Duration, begin, end func(*Server)) Disruption {
	return Disruption{name: name, do: func(sim *simulation, name string) {
		s := sim.someServer()
		sim.begin(fmt.Sprintf("%s %s", name, s.label()), d, func() { end(s) })
		begin(s)
	}}
}

func (sim *simulation) someServer() *Server { return sim.servers[sim.rng.IntN(len(sim.servers))] }

// someSession returns a session, or 0 if there is none.
func (sim *simulation) someSession() int64 {
	sessions := sim.servers[0].Sessions()
	if len(sessions) == 0 {
		return 0
	}
	return sessions[sim.rng.IntN(len(sessions))].ID
}

// home returns the server to which a session is connected, or any.
func (sim *simulation) home(session int64) *Server {
	if sim.ens == nil {
		return sim.servers[0]
	}
	if m := sim.ens.MemberOf(session); m != nil {
		return m.Server
	}
	return sim.someServer()
}

// label names a server in the list of happenings.
func (s *Server) label() string { return fmt.Sprintf("server %d", s.number()) }
