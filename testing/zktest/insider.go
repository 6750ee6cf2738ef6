package zktest

import (
	"context"
	"time"

	"github.com/gocurator/curator/internal/zkinside"
)

func init() {
	zkinside.Of = func(servers any) zkinside.Servers {
		return servers.(interface{ inside() zkinside.Servers }).inside() // also of types that embed a server
	}
	zkinside.With = func(s zkinside.Settings) any { return Option(func(c *config) { c.Settings = s }) }
	zkinside.HoldRequest = func(d time.Duration) any { return holdRequest(d) }
	zkinside.Reset = func() any { return reset() }
	zkinside.Suspended = func(host any) func() time.Duration { return host.(*Host).suspended }
}

// inside has the methods for this module alone.
type inside struct{ srv *Server }

func (s *Server) inside() zkinside.Servers   { return inside{s} }
func (e *Ensemble) inside() zkinside.Servers { return inside{e.members[0].Server} }

// session is a handle with which one method works at all members.
func (i inside) session(id int64) *Session {
	if i.srv.ens != nil {
		return i.srv.ens.Session(id)
	}
	return i.srv.Session(id)
}

func (i inside) AwaitAgreement(ctx context.Context) error { return i.srv.ens.waitAgreement(ctx) }
func (i inside) Behind() int                              { return i.srv.member.behind() }
func (i inside) Ephemerals(session int64) []string        { return i.session(session).ephemerals() }
func (i inside) PauseSession(session int64) bool          { return i.session(session).pause() }
func (i inside) ResumeSession(session int64) bool         { return i.session(session).resume() }
func (i inside) ReapContainers() int                      { return i.srv.reapContainers() }
func (i inside) ReplaceSession(session int64) bool        { return i.session(session).replace() }
func (i inside) Resign() bool                             { return i.srv.member.resign() }
func (i inside) SetSequence(parent string, n int32) error { return i.srv.setSequence(parent, n) }
func (i inside) StartFaults(plan any) error               { return i.srv.startFaults(plan.(ChaosPlan)) }

func (i inside) AllRequests() any {
	if i.srv.ens != nil {
		return i.srv.ens.requests()
	}
	return i.srv.Requests()
}

func (i inside) Events(yield func(time.Time, string) bool) {
	for _, e := range i.srv.events() {
		if !yield(e.time, e.what) {
			return
		}
	}
}

func (i inside) MemberOf(session int64) int {
	if m := i.session(session).member(); m != nil {
		return m.id
	}
	return 0
}

func (i inside) MoveSession(session int64, member int) bool {
	return i.session(session).moveTo(i.srv.ens.members[member-1])
}

func (i inside) Watches(session int64) (n int) {
	for _, srv := range i.session(session).servers {
		for _, w := range srv.Watches() {
			if w.Session == session {
				n++
			}
		}
	}
	return n
}
