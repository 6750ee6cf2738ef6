package main

import (
	"net/http"
	"slices"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// serverActions are the actions on servers, by the last part of the URL.
var serverActions = map[string]func(*zktest.Server) error{
	"stop":   (*zktest.Server).Stop,
	"pause":  (*zktest.Server).Pause,
	"resume": (*zktest.Server).Resume,
	"refuse": func(s *zktest.Server) error { s.RefuseConnections(true); return nil },
	"accept": func(s *zktest.Server) error { s.RefuseConnections(false); return nil },
}

func (c *control) onMembers(action func(*zktest.Server) error) answer {
	return func(r *http.Request) (any, error) {
		servers, err := c.members(r)
		if err != nil {
			return nil, err
		}
		for _, srv := range servers {
			if err := action(srv); err != nil {
				return nil, conflict("%s: %v", srv.Addr(), err)
			}
		}
		return nil, nil
	}
}

// restart restarts the named members one by one. Without names, it restarts all members
// together.
func (c *control) restart(r *http.Request) (any, error) {
	if c.servers.ens == nil || r.URL.Query().Has("member") {
		return c.onMembers((*zktest.Server).Restart)(r)
	}
	if err := onlyParameters(r, "member"); err != nil {
		return nil, err
	}
	for _, srv := range c.servers.all {
		_ = srv.Stop() // it cannot fail
	}
	for _, srv := range c.servers.all {
		if err := srv.Restart(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// partition cuts the named members off from the other members. Clients still reach all
// members.
func (c *control) partition(r *http.Request) (any, error) {
	servers, err := c.members(r)
	if err != nil {
		return nil, err
	}
	if c.servers.ens == nil || len(r.URL.Query()["member"]) == 0 {
		return nil, badRequest("a partition needs an ensemble (-members) and a member=")
	}
	var cut []*zktest.Member
	for _, m := range c.servers.ens.Members() {
		if slices.Contains(servers, m.Server) {
			cut = append(cut, m)
		}
	}
	if err := c.servers.ens.Partition(cut...); err != nil {
		return nil, badRequest("%v", err)
	}
	return nil, nil
}

func (c *control) heal(r *http.Request) (any, error) {
	if err := onlyParameters(r); err != nil {
		return nil, err
	}
	if c.servers.ens != nil {
		c.servers.ens.Heal()
	}
	for _, srv := range c.servers.all {
		srv.Heal()
	}
	return nil, nil
}

// sessionActions are the actions on a session, by the last part of the URL. An action
// returns false if it has nothing to act on.
var sessionActions = map[string]func(s *servers, session int64) bool{
	"expire":    func(s *servers, session int64) bool { return s.handle(session).Expire() },
	"cut":       func(s *servers, session int64) bool { return s.handle(session).Cut() },
	"blackhole": func(s *servers, session int64) bool { return s.handle(session).Blackhole() },
	"pause":     func(s *servers, session int64) bool { return zkinside.Of(s.all[0]).PauseSession(session) },
	"resume":    func(s *servers, session int64) bool { return zkinside.Of(s.all[0]).ResumeSession(session) },
}

// refusals are the reasons why an action on a session has nothing to act on.
var refusals = map[string]string{
	"expire":    "there is no leader to end it",
	"cut":       "it has no connection",
	"blackhole": "it has no connection",
	"pause":     "it has just ended",
	"resume":    "it is not paused",
}

func (c *control) onSession(name string, action func(*servers, int64) bool) answer {
	return func(r *http.Request) (any, error) {
		if err := onlyParameters(r); err != nil {
			return nil, err
		}
		id, err := parseSession(r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		if _, ok := c.servers.session(id); !ok {
			return nil, notFound("no session %s", hex(id))
		}
		if !action(c.servers, id) {
			return nil, conflict("session %s: %s", hex(id), refusals[name])
		}
		return nil, nil
	}
}
