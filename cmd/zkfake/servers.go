package main

import (
	"slices"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// servers are the servers of the program: an ensemble, or a standalone server.
type servers struct {
	all []*zktest.Server // the ensemble's members, in order
	ens *zktest.Ensemble // nil for a standalone server
}

func start(s settings) (*servers, error) {
	if s.members == 0 {
		srv, err := zktest.Run(s.options()...)
		if err != nil {
			return nil, err
		}
		return &servers{all: []*zktest.Server{srv}}, nil
	}
	ens, err := zktest.RunEnsemble(s.members, s.options()...)
	if err != nil {
		return nil, err
	}
	all := &servers{ens: ens}
	for _, m := range ens.Members() {
		all.all = append(all.all, m.Server)
	}
	return all, nil
}

func (s *servers) close() {
	if s.ens != nil {
		s.ens.Close()
		return
	}
	s.all[0].Close()
}

// addr returns the addresses that clients connect to, with commas.
func (s *servers) addr() string {
	if s.ens != nil {
		return s.ens.ConnectString()
	}
	return s.all[0].Addr()
}

// leader returns the number of the member that leads with a majority, nil if
// there is none.
func (s *servers) leader() *int {
	if s.ens == nil {
		return nil
	}
	leader := s.ens.Leader()
	if leader == nil {
		return nil
	}
	number := leader.ID()
	return &number
}

// newest returns the leader or, without a leader, the server that has applied the most
// transactions. It answers questions about the state that all servers share.
func (s *servers) newest() *zktest.Server {
	if leader := s.leader(); leader != nil {
		return s.all[*leader-1]
	}
	newest := s.all[0]
	for _, srv := range s.all {
		if srv.Stats().Zxid > newest.Stats().Zxid {
			newest = srv
		}
	}
	return newest
}

// session returns a session, and false if there is none with that id.
func (s *servers) session(id int64) (zktest.SessionInfo, bool) {
	sessions := s.newest().Sessions()
	i := slices.IndexFunc(sessions, func(sess zktest.SessionInfo) bool { return sess.ID == id })
	if i < 0 {
		return zktest.SessionInfo{}, false
	}
	return sessions[i], true
}

// requests returns the number of requests served of each type.
func (s *servers) requests() (byOp map[zktest.Op]int, total int) {
	byOp = make(map[zktest.Op]int)
	for _, srv := range s.all {
		for op, n := range srv.Stats().Requests {
			byOp[op] += n
			total += n
		}
	}
	return byOp, total
}

func (s *servers) notifications() (n int) {
	for _, srv := range s.all {
		n += srv.Stats().Notifications
	}
	return n
}

func (s *servers) watches() []zktest.Watch {
	var watches []zktest.Watch
	for _, srv := range s.all {
		watches = append(watches, srv.Watches()...)
	}
	return watches
}

func (s *servers) connections() (n int) {
	for _, srv := range s.all {
		n += srv.Stats().Connections
	}
	return n
}

func (s *servers) lastZxid() (zxid int64) {
	for _, srv := range s.all {
		zxid = max(zxid, srv.Stats().Zxid)
	}
	return zxid
}

// log returns the last requests, the oldest first.
func (s *servers) log() []zktest.Request {
	return zkinside.Of(s.all[0]).AllRequests().([]zktest.Request)
}

// handle returns the zktest.Session for actions on a session.
func (s *servers) handle(session int64) *zktest.Session {
	if s.ens != nil {
		return s.ens.Session(session)
	}
	return s.all[0].Session(session)
}

func (s *servers) startFaults(plan zktest.ChaosPlan) error {
	return zkinside.Of(s.all[0]).StartFaults(plan)
}

// stopFaults stops the random faults at all members.
func (s *servers) stopFaults() { s.all[0].StopFaults() }
