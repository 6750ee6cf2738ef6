package recipetest

import (
	"slices"
	"time"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// RequestFault is something that may happen to a request.
type RequestFault struct {
	Name string

	// MayEndSession is true if the server may end the session, and delete its ephemeral
	// nodes, before the next answer reaches the client.
	MayEndSession bool

	// On returns the fault for requests to a server.
	On func(*zktest.Server) zktest.Action
}

// RequestFaults are faults for tests that let each request in turn run into each fault.
// The times assume a session timeout between 9 and 20 seconds.
var RequestFaults = slices.Concat(ConnectionFaults, []RequestFault{RefusedRequest})

// RefusedRequest is the fault that the server answers with an error which the
// client does not retry.
var RefusedRequest = RequestFault{"refused", false, always(zktest.Fail(zkinside.ErrSystem))}

// ConnectionFaults are the faults among RequestFaults in which no error comes
// from the server.
var ConnectionFaults = []RequestFault{
	{"answered late", false, always(zktest.DelayReply(4 * time.Second))},
	{"processed late", false, always(zktest.DelayRequest(4 * time.Second))},
	{"request lost", false, always(zktest.DropRequest())},
	{"reply lost", false, always(zktest.DropReply())},
	{"session replaced", false, func(srv *zktest.Server) zktest.Action {
		replace := zktest.Call(func(r zktest.Request) { zkinside.Of(srv).ReplaceSession(r.Session) })
		return zktest.All(replace, zktest.DropReply())
	}},
	{"answered too late", true, always(zktest.DelayReply(time.Minute))},
	{"processed too late", true, always(zktest.DelayRequest(time.Minute))},
	{"request lost for good", true, always(zktest.Blackhole())},
	{"reply lost for good", true, always(zktest.BlackholeReply())},
	{"session ended before", true, expire},
	{"request lost with the session", true, func(srv *zktest.Server) zktest.Action {
		return zktest.All(expire(srv), zktest.DropRequest())
	}},
	{"reply lost with the session", true, func(srv *zktest.Server) zktest.Action {
		after := zktest.CallAfter(func(r zktest.Request) { go srv.Session(r.Session).Expire() })
		return zktest.All(after, zktest.DropReply())
	}},
}

func always(a zktest.Action) func(*zktest.Server) zktest.Action {
	return func(*zktest.Server) zktest.Action { return a }
}

func expire(srv *zktest.Server) zktest.Action {
	return zktest.Call(func(r zktest.Request) { go srv.Session(r.Session).Expire() })
}
