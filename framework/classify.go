package framework

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// This file decides what an error means for what comes next. What an operation makes of it:
//
//	operation                                 unsent   doubtful
//	get, exists, children, getACL, config,    again    again
//	  sync, a transaction of checks
//	set, setACL, delete with AnyVersion       again    again
//	set, setACL with a version                again    looked up: done, or again, or ErrOutcomeUnknown
//	delete with a version                     again    again; what is found then is ErrOutcomeUnknown, unless it worked
//	create, plain                             again    ErrOutcomeUnknown
//	create, plain and Ephemeral               again    looked up: done, or again, or zk.ErrNodeExists
//	create, Protected                         again    looked for by its name: done, or again
//	create, OrSet or Idempotent               again    again, for what exists then is taken as it is
//	transaction that writes                   again    looked up if a versioned set allows it, else ErrOutcomeUnknown
//	reconfig                                  again    looked up if a version was asked for, else ErrOutcomeUnknown
//
// "Again" is for errors whose retry is sooner. Every other error ends the operation; if it is doubtful, or an earlier
// attempt was and has not been looked up, the error matches ErrOutcomeUnknown.

// fate is what an error says about the request that it answers.
type fate int

const (
	refusedFate  fate = iota // judged, and not carried out: repeating it is in vain
	unsentFate               // not carried out, for reasons that are not its own
	doubtfulFate             // perhaps carried out, if it was a write
)

// retrying is what an error says about another attempt.
type retrying int

const (
	never  retrying = iota // not a matter of the connection
	later                  // a matter of the connection, and the operation has waited for it as long as it may
	sooner                 // a matter of the connection: on the next one
)

// verdict is what is known about an error.
type verdict struct {
	err   error
	fate  fate
	retry retrying
	why   string
}

// verdicts are in the order in which they are looked for: an error that wraps several gets the first one's.
var verdicts = []verdict{
	{ErrOutcomeUnknown, doubtfulFate, never, "repeating it might apply it twice"},
	{errClosedMeanwhile, doubtfulFate, never, "the request was on its way when the client was closed"},
	{ErrClosed, unsentFate, never, "there will be no other connection"},
	{errNotSent, unsentFate, never, "the context had ended before"},
	{errRefused, unsentFate, never, "no server takes our credentials now, but one may later"},
	{context.Canceled, doubtfulFate, never, "the caller has gone, and the request cannot be taken back"},
	{context.DeadlineExceeded, doubtfulFate, never, "the caller has gone, and the request cannot be taken back"},
	{ErrNotConnected, unsentFate, later, "has waited for a connection for its whole time already"},

	{zk.ErrNoServer, unsentFate, sooner, "there was no connection to send it on"},
	{errThrottled, unsentFate, sooner, "the server has too much to do and says so instead of working"},
	{zk.ErrSessionExpired, unsentFate, sooner, "a server carries out nothing for a session that is over"},
	{zk.ErrConnectionClosed, doubtfulFate, sooner, "the reply is lost"},
	{zk.ErrClosing, doubtfulFate, sooner, "the library ended the connection"},
	{zk.ErrSessionMoved, doubtfulFate, sooner, "the session has another connection, and an earlier one may have carried it out"},
	{ErrSessionLost, doubtfulFate, sooner, "the reply may be lost with the session"},

	{ErrRequestTooLarge, refusedFate, never, "no connection will take it"},
	{zk.ErrShortBuffer, refusedFate, never, "the library's limit for a request, by which it was not sent"},
	{zk.ErrInvalidPath, refusedFate, never, "the client has checked it"},
	{zk.ErrInvalidFlags, refusedFate, never, "the client has checked it"},
	{zk.ErrBadArguments, refusedFate, never, "the client or the server has checked it"},
	{zk.ErrInvalidACL, refusedFate, never, "the client or the server has checked it"},
	{zk.ErrNoNode, refusedFate, never, "the server has looked"},
	{zk.ErrNodeExists, refusedFate, never, "the server has looked"},
	{zk.ErrNotEmpty, refusedFate, never, "the server has looked"},
	{zk.ErrBadVersion, refusedFate, never, "the server has looked"},
	{zk.ErrNoChildrenForEphemerals, refusedFate, never, "the server has looked"},
	{zk.ErrNoAuth, refusedFate, never, "the session's identities do not change by themselves"},
	{zk.ErrAuthFailed, refusedFate, never, "the session's identities do not change by themselves"},
	{zk.ErrReconfigDisabled, refusedFate, never, "a matter of the server's configuration"},
	{zk.ErrAPIError, refusedFate, never, "no server sends it: it marks the range of codes of refused requests"},
	{zk.ErrUnknown, doubtfulFate, never, "the library does not use it"},
	{zk.ErrNothing, doubtfulFate, never, "the library does not use it, and a server has no reason to send it"},
	{zk.ErrDeadlock, refusedFate, never, "of the library's lock, which is not used"},
	{zk.ErrNotLocked, refusedFate, never, "of the library's lock, which is not used"},
	{zk.ErrUnhandledFieldType, refusedFate, never, "of the library's encoder, before it sends"},
	{zk.ErrPtrExpected, refusedFate, never, "of the library's encoder, before it sends"},

	{errUnimplemented, refusedFate, never, "the server does not know this request"},
	{ErrNoQuorum, refusedFate, never, "the server has looked"},
	{ErrReconfigInProgress, refusedFate, never, "the server has looked"},
	{&ServerError{-12}, refusedFate, never, "a server carries out nothing for a session that it does not know"},
	{&ServerError{-113}, refusedFate, never, "the client has checked it"},
	{&ServerError{-119}, refusedFate, never, "a server without quorum does not write"},
	{&ServerError{-120}, refusedFate, never, "a local session has no ephemeral nodes"},
	{&ServerError{-121}, refusedFate, never, "the server has looked"},
	{&ServerError{-124}, refusedFate, never, "the session's identities do not change by themselves"},
	{&ServerError{-125}, refusedFate, never, "the server has looked"},
	{&ServerError{-1}, doubtfulFate, never, "the server failed, before or after"},
	{&ServerError{-2}, doubtfulFate, never, "the server failed, before or after"},
	{&ServerError{-3}, doubtfulFate, never, "the server failed, before or after"},
	{&ServerError{-4}, doubtfulFate, never, "clients make it, and a proxy may"},
	{&ServerError{-5}, doubtfulFate, never, "a server's word for every failure that it has no other for, also while it answers"},
	{&ServerError{-7}, doubtfulFate, never, "somebody has waited in vain for an answer"},
	{&ServerError{-122}, doubtfulFate, never, "somebody has waited in vain for an answer"},
	{errMalformedAnswer, doubtfulFate, never, "the server may have meant success"},
}

// verdictOf returns what is known about an error other than nil. Of one that is not known, nothing good is believed.
func verdictOf(err error) verdict {
	for _, v := range verdicts {
		if errors.Is(err, v.err) {
			return v
		}
	}
	return verdict{err, doubtfulFate, never, "unknown"}
}

// retryable is the classifier of the client's own loops: what to try again on a new connection.
func retryable(err error) bool { return err != nil && verdictOf(err).retry == sooner }

// neverSent reports whether a failed request was certainly not carried out, and may be later.
func neverSent(err error) bool { return err != nil && verdictOf(err).fate == unsentFate }

// ambiguous reports whether a failed write may have been applied.
func ambiguous(err error) bool { return err != nil && verdictOf(err).fate == doubtfulFate }

// departed reports whether a request was sent and then left alone because ctx ended.
func departed(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, errNotSent)
}

// IsConnectionError reports whether err says that the client had no working connection, or none in the session it
// needed, or to a server that has no capacity left. Such an error says nothing about the request itself: it may succeed
// later.
func IsConnectionError(err error) bool {
	if errors.Is(err, ErrClosed) {
		return false
	}
	for _, v := range verdicts {
		if v.retry != never && errors.Is(err, v.err) {
			return true
		}
	}
	return false
}

// IsRefusal reports whether err says that the server, or the client itself, has judged the request, so that repeating it is
// in vain: for want of rights, or because of what is there or what was asked for.
func IsRefusal(err error) bool { return err != nil && verdictOf(err).fate == refusedFate }
