package zktest

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Disruption is something that a [ChaosPlan] does to servers and sessions. It
// chooses one of them by itself; if there is nothing to choose from, nothing
// happens.
type Disruption struct {
	name     string
	ensemble bool          // it makes no sense for a standalone server
	length   time.Duration // the least of its arguments, which must not be negative
	do       func(v *victims, name string)
}

// victims are what a plan at work can disrupt.
type victims struct {
	*simulation
	servers []*Server
	ens     *Ensemble // nil for a standalone server
}

// ExpireSession is [Session.Expire] of one session.
func ExpireSession() Disruption {
	return toSession("expire", func(s *Session) { s.Expire() })
}

// CutSession is [Session.Cut] of one session.
func CutSession() Disruption {
	return toSession("cut", func(s *Session) { s.Cut() })
}

// ReplaceSession is [Session.Replace] of one session, and cuts its connection.
func ReplaceSession() Disruption {
	return toSession("replace", func(s *Session) {
		s.Replace()
		s.Cut()
	})
}

// ReapContainers is [Server.ReapContainers].
func ReapContainers() Disruption {
	return toServer("reap", func(s *Server) { s.ReapContainers() })
}

// ResignLeader is [Member.Resign] of the leader. It needs an ensemble.
func ResignLeader() Disruption {
	return Disruption{name: "resign", ensemble: true, do: func(v *victims, name string) {
		if leader := v.ens.Leader(); leader != nil {
			v.begin(fmt.Sprintf("%s %d", name, leader.ID()), 0, nil)
			leader.Resign()
		}
	}}
}

// StopFor stops a server, and starts it again after at most d.
func StopFor(d time.Duration) Disruption {
	return lasting("stop", d, func(s *Server) { _ = s.Stop() }, func(s *Server) {
		s.mu.Lock()
		defer s.unlock()
		s.startLocked()
	})
}

// PauseFor pauses a server, and lets it go on after at most d.
func PauseFor(d time.Duration) Disruption {
	// A server that is stopped cannot be paused, which is no fault of the plan.
	return lasting("pause", d, func(s *Server) { _ = s.Pause() }, func(s *Server) { _ = s.Resume() })
}

// BlackholeFor is [Server.BlackholeAll], between a server and all clients, and
// [Server.Heal] after at most d.
func BlackholeFor(d time.Duration) Disruption {
	return lasting("black hole", d, (*Server).BlackholeAll, (*Server).Heal)
}

// RefuseFor makes a server refuse connections for at most d.
func RefuseFor(d time.Duration) Disruption {
	return lasting("refuse", d,
		func(s *Server) { s.RefuseConnections(true) }, func(s *Server) { s.RefuseConnections(false) })
}

// PauseSessionFor is [Session.Pause] of one session, for at most d.
func PauseSessionFor(d time.Duration) Disruption {
	return Disruption{name: "pause session", length: d, do: func(v *victims, name string) {
		if id := v.someSession(); id != 0 {
			sess := v.servers[0].Session(id)
			v.begin(fmt.Sprintf("%s %#x", name, id), d, func() { sess.Resume() })
			sess.Pause()
		}
	}}
}

// LagFor makes a member of an ensemble lag by at most lag, for at most d.
func LagFor(lag, d time.Duration) Disruption {
	return Disruption{name: "lag", ensemble: true, length: min(lag, d), do: func(v *victims, name string) {
		m := v.someServer().member
		by := time.Duration(v.rng.Int64N(int64(max(lag, 1))))
		v.begin(fmt.Sprintf("%s %s by %v", name, m.label(), by), d, func() { _ = m.Lag(0) })
		_ = m.Lag(by)
	}}
}

// PartitionFor is [Ensemble.Partition] of one member. After at most d, it ends,
// and all other partitions with it.
func PartitionFor(d time.Duration) Disruption {
	return Disruption{name: "partition", ensemble: true, length: d, do: func(v *victims, name string) {
		m := v.someServer().member
		v.begin(fmt.Sprintf("%s %s", name, m.label()), d, v.ens.Heal)
		v.ens.mu.Lock()
		defer v.ens.unlock()
		v.ens.partitionLocked(m)
	}}
}

// Custom is a disruption of the test's own. All that is random in it must be
// drawn from the argument, and do must not wait, nor call StopFaults.
func Custom(name string, do func(*rand.Rand)) Disruption {
	d := Disruption{name: name}
	if do != nil {
		d.do = func(v *victims, name string) {
			v.begin(name, 0, nil)
			do(v.rng)
		}
	}
	return d
}

func toSession(name string, do func(*Session)) Disruption {
	return Disruption{name: name, do: func(v *victims, name string) {
		if id := v.someSession(); id != 0 {
			s := v.home(id)
			v.begin(fmt.Sprintf("%s %#x", name, id), 0, nil)
			do(s.Session(id))
		}
	}}
}

func toServer(name string, do func(*Server)) Disruption {
	return Disruption{name: name, do: func(v *victims, name string) {
		s := v.someServer()
		v.begin(fmt.Sprintf("%s %s", name, s.label()), 0, nil)
		do(s)
	}}
}

func lasting(name string, d time.Duration, begin, end func(*Server)) Disruption {
	return Disruption{name: name, length: d, do: func(v *victims, name string) {
		s := v.someServer()
		v.begin(fmt.Sprintf("%s %s", name, s.label()), d, func() { end(s) })
		begin(s)
	}}
}

func (v *victims) someServer() *Server { return v.servers[v.rng.IntN(len(v.servers))] }

// someSession returns a session, or 0 if there is none.
func (v *victims) someSession() int64 {
	sessions := v.servers[0].Sessions()
	if len(sessions) == 0 {
		return 0
	}
	return sessions[v.rng.IntN(len(sessions))].ID
}

// home returns the server to which a session is connected, or any.
func (v *victims) home(session int64) *Server {
	if v.ens == nil {
		return v.servers[0]
	}
	if m := v.ens.Session(session).Member(); m != nil {
		return m.Server
	}
	return v.someServer()
}

// label names a server in the list of events.
func (s *Server) label() string { return fmt.Sprintf("server %d", s.number()) }
