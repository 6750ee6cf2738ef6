package zktest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Disruption is something that a [ChaosPlan] does to a random server or session. Without a
// server or session that it could apply to, a disruption has no effect. These are the
// kinds:
//
//	expire         ends a session without a warning, as Session.Expire
//	cut            cuts the connection of a session, as Session.Cut
//	replace        gives the client of a session a new session without a notice
//	pause_session  makes the requests of a session wait for at most For
//	stop           stops a server for at most For
//	pause          pauses a server for at most For
//	blackhole      drops all packets between a server and its clients for at most For
//	refuse         makes a server refuse new connections for at most For
//	reap           deletes empty containers and outdated nodes with a TTL
//
// These need an ensemble:
//
//	resign     makes the leader step down
//	lag        makes a member lag by at most Lag, for at most For
//	partition  cuts a member off from the other members for at most For; the end
//	           of one partition ends all partitions
type Disruption struct {
	// Kind is one of these kinds, or any name for the effect of Do.
	Kind string
	For  time.Duration
	Lag  time.Duration
	// Do is a disruption of the test's own. The argument is its only source of random
	// numbers. It must neither wait nor call StopFaults.
	Do func(*rand.Rand)
}

// disruptions has the functions for the kinds of [Disruption].
var disruptions = map[string]func(v *victims, d Disruption){
	"expire": toSession(func(s *Session) { s.Expire() }),
	"cut":    toSession(func(s *Session) { s.Cut() }),
	"replace": toSession(func(s *Session) {
		s.replace()
		s.Cut()
	}),
	"pause_session": pauseSession,
	"stop": lasting(func(s *Server) { _ = s.Stop() }, func(s *Server) {
		s.mu.Lock()
		defer s.unlock()
		s.startLocked()
	}),
	// A stopped server cannot be paused; the plan is valid all the same.
	"pause":     lasting(func(s *Server) { _ = s.Pause() }, func(s *Server) { _ = s.Resume() }),
	"blackhole": lasting((*Server).BlackholeAll, (*Server).Heal),
	"refuse":    lasting(func(s *Server) { s.RefuseConnections(true) }, func(s *Server) { s.RefuseConnections(false) }),
	"reap": func(v *victims, d Disruption) {
		s := v.someServer()
		v.begin(fmt.Sprintf("%s %s", d.Kind, s.label()), 0, nil)
		s.reapContainers()
	},
}

// ensembleDisruptions are the kinds that need an ensemble.
var ensembleDisruptions = map[string]func(v *victims, d Disruption){
	"resign": func(v *victims, d Disruption) {
		if leader := v.ens.Leader(); leader != nil {
			v.begin(fmt.Sprintf("%s %d", d.Kind, leader.ID()), 0, nil)
			leader.resign()
		}
	},
	"lag": func(v *victims, d Disruption) {
		m := v.someServer().member
		by := time.Duration(v.rng.Int64N(int64(max(d.Lag, 1))))
		v.begin(fmt.Sprintf("%s %s by %v", d.Kind, m.label(), by), d.For, func() { _ = m.Lag(0) })
		_ = m.Lag(by)
	},
	"partition": func(v *victims, d Disruption) {
		m := v.someServer().member
		v.begin(fmt.Sprintf("%s %s", d.Kind, m.label()), d.For, v.ens.Heal)
		v.ens.mu.Lock()
		defer v.ens.unlock()
		v.ens.partitionLocked(m)
	},
}

func (d Disruption) check(standalone bool) error {
	_, known := disruptions[d.Kind]
	_, needsEnsemble := ensembleDisruptions[d.Kind]
	switch {
	case d.For < 0 || d.Lag < 0:
		return fmt.Errorf("disruption %q for %v with a lag of %v", d.Kind, d.For, d.Lag)
	case d.Do != nil || known:
		return nil
	case !needsEnsemble:
		all := slices.Sorted(maps.Keys(disruptions))
		all = append(all, slices.Sorted(maps.Keys(ensembleDisruptions))...)
		return fmt.Errorf("disruption %q, which is none of %s, and has no Do", d.Kind, strings.Join(all, ", "))
	case standalone:
		return fmt.Errorf("disruption %q needs an ensemble", d.Kind)
	}
	return nil
}

// victims are the servers and the ensemble that an active plan can disrupt.
type victims struct {
	*simulation
	servers []*Server
	ens     *Ensemble // nil for a standalone server
}

func (v *victims) disrupt(d Disruption) {
	if d.Do != nil {
		v.begin(d.Kind, 0, nil)
		d.Do(v.rng)
	} else if do := disruptions[d.Kind]; do != nil {
		do(v, d)
	} else {
		ensembleDisruptions[d.Kind](v, d)
	}
}

func pauseSession(v *victims, d Disruption) {
	if id := v.someSession(); id != 0 {
		sess := v.servers[0].Session(id)
		v.begin(fmt.Sprintf("%s %#x", d.Kind, id), d.For, func() { sess.resume() })
		sess.pause()
	}
}

func toSession(do func(*Session)) func(*victims, Disruption) {
	return func(v *victims, d Disruption) {
		if id := v.someSession(); id != 0 {
			s := v.home(id)
			v.begin(fmt.Sprintf("%s %#x", d.Kind, id), 0, nil)
			do(s.Session(id))
		}
	}
}

func lasting(begin, end func(*Server)) func(*victims, Disruption) {
	return func(v *victims, d Disruption) {
		s := v.someServer()
		v.begin(fmt.Sprintf("%s %s", d.Kind, s.label()), d.For, func() { end(s) })
		begin(s)
	}
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

// home returns the server to which a session is connected, or any server.
func (v *victims) home(session int64) *Server {
	if v.ens == nil {
		return v.servers[0]
	}
	if m := v.ens.Session(session).member(); m != nil {
		return m.Server
	}
	return v.someServer()
}

// label names a server in the list of events.
func (s *Server) label() string { return fmt.Sprintf("server %d", s.number()) }
