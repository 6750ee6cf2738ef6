package follow

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// Verdict says what follows an error.
type Verdict int

// The verdicts.
const (
	End         Verdict = iota // waiting does not cure it
	NextSession                // the next session begins with a connection
	Outage                     // the next connection may cure it, or a moment on this one
	Trouble                    // a server answers, but not with what was asked for
)

// judgment is one row of the table by which errors are judged.
type judgment struct {
	matches func(error) bool
	verdict Verdict
	why     string
}

// judgments are in the order in which they are looked for: an error that wraps
// several gets the first one's.
var judgments = []judgment{
	{is(framework.ErrClosed), End, "there will be no other connection"},
	{is(framework.ErrSessionLost), NextSession, "what was seen in the session says nothing of the next one"},
	{is(zk.ErrAuthFailed), End,
		"the servers refuse the credentials before they look at a request: whoever relies on the follower must know"},
	{is(zk.ErrNoNode), Trouble, "a parent is missing: the server deletes containers that are empty, and a look finds or makes them again"},
	{framework.IsConnectionError, Outage, "it says nothing about the request itself"},
	{isReplyLost, Outage, "the reply is lost with its connection, and the next look tells"},
	{framework.IsRefusal, End, "the server or the client has judged the request: repeating it is in vain"},
	{func(error) bool { return true }, Trouble, "a server that is in trouble may get over it"},
}

func is(target error) func(error) bool {
	return func(err error) bool { return reason.Is(err, target) }
}

// isReplyLost reports whether a write may be done, and no server says that it has
// failed at it.
func isReplyLost(err error) bool {
	_, answered := framework.ServerCode(err)
	return !answered && reason.Is(err, framework.ErrOutcomeUnknown)
}

// Judge says what follows an error, if the follower knows no better. The error
// is not nil, and not of the follower's own context.
func Judge(err error) Verdict {
	for _, j := range judgments {
		if j.matches(err) {
			return j.verdict
		}
	}
	panic("unreachable: the last row matches every error")
}
