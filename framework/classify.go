package framework

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
)

// This file decides the consequences of errors. ErrOutcomeUnknown has the table of the
// consequences for each operation.

// outcome is what an error implies about its request.
type outcome int

const (
	notApplied     outcome = iota // the request was refused: a repetition would fail, too
	unsent                        // not applied, for a reason outside the request
	outcomeUnknown                // a write may have been applied
)

// retryClass is what an error implies for another attempt.
type retryClass int

const (
	notRetryable   retryClass = iota // not an error of the connection
	retryExhausted                   // an error of the connection, after the longest allowed wait
	isRetryable                      // an error of the connection: retry on the next one
)

// errorClass is what is known about an error.
type errorClass struct {
	err     error
	outcome outcome
	retry   retryClass
	why     string
}

// errorClasses is searched in order: an error that wraps several entries belongs to the
// first one.
var errorClasses = []errorClass{
	{ErrOutcomeUnknown, outcomeUnknown, notRetryable, "repeating it might apply it twice"},
	{errClosedMeanwhile, outcomeUnknown, notRetryable,
		"the request was on its way when the client was closed"},
	{ErrClosed, unsent, notRetryable, "there will be no other connection"},
	{errNotSent, unsent, notRetryable, "the context had ended before"},
	{errRefused, unsent, notRetryable, "no server takes our credentials now, but one may later"},
	{context.Canceled, outcomeUnknown, notRetryable,
		"the caller has gone, and the request cannot be taken back"},
	{context.DeadlineExceeded, outcomeUnknown, notRetryable,
		"the caller has gone, and the request cannot be taken back"},
	{ErrNotConnected, unsent, retryExhausted,
		"has waited for a connection for its whole time already"},

	{&HangUpError{}, outcomeUnknown, notRetryable, "the server would end the next connection, too"},

	{zk.ErrNoServer, unsent, isRetryable, "there was no connection to send it on"},
	{errThrottled, unsent, isRetryable,
		"the server has too much to do and says so instead of working"},
	{zk.ErrSessionExpired, unsent, isRetryable,
		"a server carries out nothing for a session that is over"},
	{&ServerError{proto.CodeSessionClosedNeedsSASL}, unsent, isRetryable,
		"the server carries out nothing without authentication, and the next handshake tells whether another does"},
	{zk.ErrConnectionClosed, outcomeUnknown, isRetryable, "the reply is lost"},
	{zk.ErrClosing, outcomeUnknown, isRetryable, "the library ended the connection"},
	{zk.ErrSessionMoved, outcomeUnknown, isRetryable,
		"the session has another connection, and an earlier one may have carried it out"},
	{ErrSessionLost, outcomeUnknown, isRetryable, "the reply may be lost with the session"},

	{ErrRequestTooLarge, notApplied, notRetryable, "no connection will take it"},
	{zk.ErrShortBuffer, notApplied, notRetryable,
		"the library's limit for a request, by which it was not sent"},
	{zk.ErrInvalidPath, notApplied, notRetryable, "the client has checked it"},
	{zk.ErrInvalidFlags, notApplied, notRetryable, "the client has checked it"},
	{zk.ErrBadArguments, notApplied, notRetryable, "the client or the server has checked it"},
	{zk.ErrInvalidACL, notApplied, notRetryable, "the client or the server has checked it"},
	{zk.ErrNoNode, notApplied, notRetryable, "the server has looked"},
	{zk.ErrNodeExists, notApplied, notRetryable, "the server has looked"},
	{zk.ErrNotEmpty, notApplied, notRetryable, "the server has looked"},
	{zk.ErrBadVersion, notApplied, notRetryable, "the server has looked"},
	{zk.ErrNoChildrenForEphemerals, notApplied, notRetryable, "the server has looked"},
	{zk.ErrNoAuth, notApplied, notRetryable,
		"the session's identities do not change by themselves"},
	{zk.ErrAuthFailed, notApplied, notRetryable,
		"the session's identities do not change by themselves"},
	{zk.ErrReconfigDisabled, notApplied, notRetryable, "a matter of the server's configuration"},
	{zk.ErrAPIError, notApplied, notRetryable,
		"no server sends it: it marks the range of codes of refused requests"},
	{zk.ErrUnknown, outcomeUnknown, notRetryable, "the library does not use it"},
	{zk.ErrNothing, outcomeUnknown, notRetryable,
		"the library does not use it, and a server has no reason to send it"},
	{zk.ErrDeadlock, notApplied, notRetryable, "of the library's lock, which is not used"},
	{zk.ErrNotLocked, notApplied, notRetryable, "of the library's lock, which is not used"},
	{zk.ErrUnhandledFieldType, notApplied, notRetryable,
		"of the library's encoder, before it sends"},
	{zk.ErrPtrExpected, notApplied, notRetryable, "of the library's encoder, before it sends"},

	{ErrUnimplemented, notApplied, notRetryable, "the server does not know this request"},
	{&ServerError{proto.CodeUnknownSession}, notApplied, notRetryable,
		"a server carries out nothing for a session that it does not know"},
	{&ServerError{proto.CodeInvalidCallback}, notApplied, notRetryable,
		"the client has checked it"},
	{&ServerError{proto.CodeNotReadOnly}, notApplied, notRetryable,
		"a server without quorum does not write"},
	{&ServerError{proto.CodeEphemeralOnLocalSession}, notApplied, notRetryable,
		"a local session has no ephemeral nodes"},
	{&ServerError{proto.CodeNoWatcher}, notApplied, notRetryable, "the server has looked"},
	{&ServerError{proto.CodeQuotaExceeded}, notApplied, notRetryable, "the server has looked"},
	{&ServerError{proto.CodeSystemError}, outcomeUnknown, notRetryable,
		"the server failed, before or after"},
	{&ServerError{proto.CodeRuntimeInconsistency}, outcomeUnknown, notRetryable,
		"the server failed, before or after"},
	{&ServerError{proto.CodeDataInconsistency}, outcomeUnknown, notRetryable,
		"the server failed, before or after"},
	{&ServerError{proto.CodeConnectionLoss}, outcomeUnknown, notRetryable,
		"clients make it, and a proxy may"},
	{&ServerError{proto.CodeMarshallingError}, outcomeUnknown, notRetryable,
		"a server's word for every failure that it has no other for, also while it answers"},
	{&ServerError{proto.CodeOperationTimeout}, outcomeUnknown, notRetryable,
		"an answer did not arrive in time"},
	{&ServerError{proto.CodeRequestTimeout}, outcomeUnknown, notRetryable,
		"an answer did not arrive in time"},
	{ErrAnswerTooLarge, outcomeUnknown, notRetryable, "the next answer will be as long"},
	{errMalformedAnswer, outcomeUnknown, notRetryable, "the server may have meant success"},
}

// classify returns the class of an error other than nil. For an unknown error, classify
// assumes the worst: the outcome is unknown, and there is no retry.
func classify(err error) errorClass {
	for _, class := range errorClasses {
		if reason.Is(err, class.err) {
			return class
		}
	}
	return errorClass{err, outcomeUnknown, notRetryable, "unknown"}
}

// retryable is the classifier of the client's own loops: it returns true for errors to
// retry on a new connection.
func retryable(err error) bool { return err != nil && classify(err).retry == isRetryable }

// neverSent reports whether a failed request was certainly not carried out, and can be
// sent later.
func neverSent(err error) bool { return err != nil && classify(err).outcome == unsent }

// ambiguous reports whether a failed write may have been applied.
func ambiguous(err error) bool { return err != nil && classify(err).outcome == outcomeUnknown }

// abandoned reports whether a request was sent and then left alone because ctx
// ended.
func abandoned(ctx context.Context, err error) bool {
	return reason.IsOfContext(ctx, err) && !reason.Is(err, errNotSent)
}

// IsConnectionError reports whether err means that the client had no working
// connection, had none in the required session, or was connected to a server without
// free capacity. Such an error says nothing about the request itself, which may succeed
// later.
func IsConnectionError(err error) bool {
	if reason.Is(err, ErrClosed) {
		return false
	}
	for _, class := range errorClasses {
		if class.retry != notRetryable && reason.Is(err, class.err) {
			return true
		}
	}
	return false
}

// IsRefusal reports whether err means that the server or the client has refused the request,
// so that a repetition would fail, too: for lack of permission, because of the state of the
// nodes, or because the request is invalid.
func IsRefusal(err error) bool { return err != nil && classify(err).outcome == notApplied }
