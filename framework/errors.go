package framework

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/reason"
)

// These errors end operations, sessions and what is built on them. Match them
// with errors.Is.
var (
	// ErrClosed means that the client was closed.
	ErrClosed = errors.New("client is closed")

	// ErrNotConnected means that there was no connection for as long as the
	// connection timeout, or until the context ended; in the latter case the
	// error matches the context's error, too. The request was not sent.
	// errors.Is and errors.As find in it why the last attempt to connect
	// failed, such as syscall.ECONNREFUSED.
	ErrNotConnected = errors.New("not connected")

	// ErrSessionLost means that the session is over or may be over at any
	// moment, so that its ephemeral nodes cannot be trusted any more. It is the
	// cause with which a Session's context ends.
	ErrSessionLost = errors.New("session lost")

	// ErrLeftToServers means that no server has said that an ephemeral node is
	// gone, and that the client has no session any more in which it would ask:
	// it has given the session up, or was closed without reaching a server. The
	// servers delete the node by themselves when they end the session. That
	// takes at most the session timeout, rounded up to their tick, after they
	// heard from the client last. A new leader grants every session its whole
	// timeout again, from its election on, and servers without a leader delete
	// nothing. An open client also deletes the node when it has a connection.
	ErrLeftToServers = errors.New("node is left to the servers")

	// ErrSuspended means that the connection was interrupted, where the error
	// policy treats that as loss.
	ErrSuspended = errors.New("connection suspended")

	// ErrWatchStopped means that a watch was stopped before it fired.
	ErrWatchStopped = watches.ErrStopped

	// ErrOutcomeUnknown means that a write was sent, that no answer has told
	// whether it was applied, and that it may still be applied later. The caller
	// reads what is there and decides. A request that was never sent is repeated.
	// What follows a request whose reply was lost depends on the operation:
	//
	//	operation                                         the reply was lost
	//	Get, Exists, Children, GetACL, Sync,              repeated
	//	  and a Transaction of checks
	//	Set, SetACL and Delete of AnyVersion,             repeated
	//	  Delete WithGuarantee
	//	Transaction of checks, and of SetOps,             repeated; an error of the
	//	  DeleteOps and CreateOps WithOverwrite           repeated one is unknown, too
	//	  of AnyVersion
	//	Create WithIdempotence, and WithOverwrite         repeated, for what exists
	//	  of AnyVersion                                   then is taken as it is
	//	Create WithProtection                             looked for by its name: done,
	//	                                                  or repeated
	//	Transaction with a protected CreateOp             looked for by the names: done,
	//	                                                  repeated, or unknown
	//	Set, SetACL and Delete of a version,              unknown
	//	  Create WithOverwrite of a version,
	//	  every other Create, ephemeral or not,
	//	  every other Transaction
	//
	// "Repeated" ends with the client's retry policy, with ctx, and with an error
	// that is no matter of the connection. If the reply to an earlier attempt of
	// a write was lost, that error matches ErrOutcomeUnknown as well. Every write
	// is of unknown outcome if ctx ends or the client is closed while the reply
	// is awaited, and if a server answers that it has failed.
	//
	// In a later session, a server that has stalled may still apply a request of
	// the session that was lost. So it may overwrite what a repeated write, or
	// another client, has written since.
	ErrOutcomeUnknown = errors.New("outcome unknown")

	// ErrRequestTooLarge means that a request was not sent because it is longer
	// than WithMaxRequestSize allows, which is the servers' own limit unless
	// set otherwise. It matches zk.ErrShortBuffer too, the library's error for it.
	ErrRequestTooLarge = fmt.Errorf("request too large: %w", zk.ErrShortBuffer)

	// ErrAnswerTooLarge means that the server has answered, and that the answer
	// is longer than 64 MiB: a listing of very many children, most likely.
	ErrAnswerTooLarge = errors.New("answer too large")
)

// OpError is the error of every operation of a Client. errors.Is finds the
// zk.Err value, the context's error and its cause, or one of the errors above in
// it. A context may have been ended with the error of another call as its cause:
// see ServerCode.
type OpError struct {
	Op   string // such as "create"
	Path string // the caller's, without the chroot and the namespace; for "session" and "connect", the servers
	Err  error
}

// Error returns a text such as: create /locks/a: zk: node already exists. A
// path that cannot be printed is quoted, and an empty one is left out.
func (e *OpError) Error() string {
	if e.Path == "" {
		return e.Op + ": " + e.Err.Error()
	}
	return e.Op + " " + printable.String(e.Path) + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *OpError) Unwrap() error { return e.Err }

// HangUpError says that connections end, one after the other, while the same
// long request is in flight, and that other requests are answered in between. A
// server ends the connection without an answer when a request is longer than its
// jute.maxbuffer. The *OpError around it names the operation and the path. A write
// may have been carried out all the same, and matches ErrOutcomeUnknown then.
type HangUpError struct {
	Size int // of the request, in bytes
	Ends int // how many connections in a row
}

// Error returns the length of the request, and asks about the servers' limit.
func (e *HangUpError) Error() string {
	return fmt.Sprintf("the last %d connections have ended with this request of %d bytes in flight: "+
		"is jute.maxbuffer of the servers lower than that?", e.Ends, e.Size)
}

// Is reports whether target is a *HangUpError, whatever its fields.
func (e *HangUpError) Is(target error) bool {
	_, ok := target.(*HangUpError)
	return ok
}

// These errors are parts of others.
var (
	errNotSent         = errors.New("request not sent")                           // a context had ended before
	errClosedMeanwhile = fmt.Errorf("%w while the answer was awaited", ErrClosed) // whatever the answer was
	errRefused         = fmt.Errorf("no connection: %w", zk.ErrAuthFailed)        // the request was not judged
	errMalformedAnswer = errors.New("malformed answer of the server")
)

func unknownOutcome(err error) error {
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
}

// ServerError is an answer of the server for which go-zookeeper has no error
// value.
type ServerError struct {
	Code int32 // see ZooKeeper's KeeperException.Code
}

// serverErrors names the codes that go-zookeeper does not.
var serverErrors = map[int32]string{
	proto.CodeSystemError:             "system error",
	proto.CodeRuntimeInconsistency:    "runtime inconsistency",
	proto.CodeDataInconsistency:       "data inconsistency",
	proto.CodeConnectionLoss:          "connection loss",
	proto.CodeMarshallingError:        "marshalling error",
	proto.CodeUnimplemented:           "unimplemented",
	proto.CodeOperationTimeout:        "operation timeout",
	proto.CodeUnknownSession:          "unknown session",
	proto.CodeInvalidCallback:         "invalid callback",
	proto.CodeNotReadOnly:             "not read-only",
	proto.CodeEphemeralOnLocalSession: "ephemeral node on local session",
	proto.CodeNoWatcher:               "no such watcher",
	proto.CodeRequestTimeout:          "request timeout",
	proto.CodeSessionClosedNeedsSASL:  "authentication required: set framework.WithSASL or framework.WithAuth",
	proto.CodeQuotaExceeded:           "quota exceeded",
	proto.CodeThrottled:               "throttled",
}

// Error returns the code's name, if it has one, and the code.
func (e *ServerError) Error() string {
	if name, ok := serverErrors[e.Code]; ok {
		return fmt.Sprintf("zk: %s (%d)", name, e.Code)
	}
	return fmt.Sprintf("zk: error %d", e.Code)
}

// Is reports whether target is a *ServerError with the same code. The answer of a
// server that requires authentication also matches zk.ErrAuthFailed.
func (e *ServerError) Is(target error) bool {
	if target == zk.ErrAuthFailed {
		return e.Code == proto.CodeSessionClosedNeedsSASL
	}
	t, ok := target.(*ServerError)
	return ok && t.Code == e.Code
}

// libraryErrors are the codes for which go-zookeeper has an error value.
var libraryErrors = map[int32]error{
	proto.CodeBadArguments:            zk.ErrBadArguments,
	proto.CodeAPIError:                zk.ErrAPIError,
	proto.CodeNoNode:                  zk.ErrNoNode,
	proto.CodeNoAuth:                  zk.ErrNoAuth,
	proto.CodeBadVersion:              zk.ErrBadVersion,
	proto.CodeNoChildrenForEphemerals: zk.ErrNoChildrenForEphemerals,
	proto.CodeNodeExists:              zk.ErrNodeExists,
	proto.CodeNotEmpty:                zk.ErrNotEmpty,
	proto.CodeSessionExpired:          zk.ErrSessionExpired,
	proto.CodeInvalidACL:              zk.ErrInvalidACL,
	proto.CodeAuthFailed:              zk.ErrAuthFailed,
	proto.CodeSessionMoved:            zk.ErrSessionMoved,
	proto.CodeReconfigDisabled:        zk.ErrReconfigDisabled,
}

// ServerCode returns the code of the server's answer that an error is about, as
// in ZooKeeper's KeeperException.Code, and false if it is about none. Of an error
// about several answers, it is the first one in the order of errors.Is. A
// *ConfigError has the code with which a server would have answered. Unlike
// errors.Is, it does not take an error that was the cause of the caller's
// context for an answer.
func ServerCode(err error) (code int32, ok bool) {
	reason.Find(err, func(part error) bool {
		code, ok = codeOf(part)
		return ok
	})
	return code, ok
}

// codeOf returns the code of an answer. It does not look at what an error wraps.
func codeOf(part any) (code int32, ok bool) {
	switch e := part.(type) {
	case *ServerError:
		return e.Code, true
	case *ConfigError:
		return codeOf(e.kindOrBadArguments())
	}
	for code, known := range libraryErrors {
		if part == any(known) {
			return code, true
		}
	}
	return 0, false
}

// errorOf returns the error of a server's code other than CodeOK.
func errorOf(code int32) error {
	if err, ok := libraryErrors[code]; ok {
		return err
	}
	return &ServerError{Code: code}
}

// ErrUnimplemented is the answer of a server that does not know the request, which
// a later version of ZooKeeper does.
var ErrUnimplemented error = &ServerError{Code: proto.CodeUnimplemented}

var errThrottled = &ServerError{Code: proto.CodeThrottled} // not carried out

func notSent(ctx context.Context) error {
	return fmt.Errorf("%w: %w", errNotSent, reason.OfContext(ctx))
}

// ConfigError says which argument or option cannot be used, and why. New and
// every operation return it for a nil option and for a value that has no
// meaning: it is never a panic, and never ignored. The recipes return it, too.
//
// errors.Is finds zk.ErrBadArguments in it. In one about an access control list
// it also finds zk.ErrInvalidACL, and in one about a mode zk.ErrInvalidFlags.
type ConfigError struct {
	Name   string // such as "session timeout"
	Value  string
	Reason string

	kind error // what errors.Is finds beside zk.ErrBadArguments, or nil
}

// Error returns a sentence such as: invalid session timeout "0s":
// must be at least 10ms.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("invalid %s %q: %s", e.Name, e.Value, e.Reason)
}

// Is reports whether the target is an error that a ConfigError matches.
func (e *ConfigError) Is(target error) bool {
	return target == zk.ErrBadArguments || e.kind != nil && target == e.kind
}

func (e *ConfigError) kindOrBadArguments() error {
	if e.kind != nil {
		return e.kind
	}
	return zk.ErrBadArguments
}

func badArgument(name, value, reason string) *ConfigError {
	return &ConfigError{Name: name, Value: value, Reason: reason}
}

// isNil is the error of an argument that must not be nil.
func isNil(name string) *ConfigError {
	return badArgument(name, "nil", "must not be nil")
}

// invalid is badArgument for an error that also matches a kind.
func invalid(kind error, name, value, reason string) *ConfigError {
	return &ConfigError{name, value, reason, kind}
}

// apply calls the options of an operation. One that is nil is an error.
func apply[T any, O ~func(*T)](to *T, opts []O) error {
	for _, opt := range opts {
		if opt == nil {
			return isNil("option")
		}
		opt(to)
	}
	return nil
}

// present reports whether an interface holds something that can be called:
// neither nothing nor a nil pointer, whose methods would panic.
func present(v any) bool {
	if v == nil {
		return false
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.Slice:
		return !r.IsNil()
	default:
		return true
	}
}

// connectError is the end of a wait for a connection, with the reasons for that
// as far as they are known. They may be old.
type connectError struct {
	ended   error
	attempt error // why the last attempt to connect failed, or nil
	reasons string
}

func (e *connectError) Error() string { return e.ended.Error() + " (" + e.reasons + ")" }

// Unwrap returns how the wait ended, and then why there was no connection.
func (e *connectError) Unwrap() []error {
	if e.attempt == nil {
		return []error{e.ended}
	}
	return []error{e.ended, reason.Foreign(attemptError{e.attempt})}
}

// attemptError lets errors.Is and errors.As find in an operation's error why an
// attempt to connect failed, such as syscall.ECONNREFUSED. It hides every error
// that would say something about the operation. Above all, a dial that took too
// long matches context.DeadlineExceeded, and that was not the caller's
// deadline.
type attemptError struct{ err error }

func (e attemptError) Error() string { return e.err.Error() }

// Is implements errors.Is, instead of Unwrap.
//
//nolint:forbidigo // It answers users. The client itself does not look here.
func (e attemptError) Is(target error) bool {
	for _, class := range errorClasses {
		if errors.Is(target, class.err) {
			return false
		}
	}
	return errors.Is(e.err, target)
}

// As implements errors.As, instead of Unwrap.
//
//nolint:forbidigo // It answers users. The client itself does not look here.
func (e attemptError) As(target any) bool {
	if _, isAnswer := target.(**ServerError); isAnswer {
		return false
	}
	return errors.As(e.err, target)
}
