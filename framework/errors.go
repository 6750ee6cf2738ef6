package framework

import (
	"cmp"
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

// These errors end operations, sessions, and recipes that depend on sessions. Match
// them with errors.Is.
var (
	// ErrClosed means that the client was closed.
	ErrClosed = errors.New("client is closed")

	// ErrNotConnected means that there was no connection for as long as the connection
	// timeout, or until the context ended; in the latter case the error matches the
	// context's error, too. The request was not sent. errors.Is and errors.As find the
	// reason why the last attempt to connect failed, such as syscall.ECONNREFUSED.
	ErrNotConnected = errors.New("not connected")

	// ErrSessionLost means that the session is over or may end at any moment, so its
	// ephemeral nodes can no longer be trusted. It is the cause of a Session's context.
	ErrSessionLost = errors.New("session lost")

	// ErrLeftToServers means that no server has confirmed the deletion of an ephemeral
	// node, and that the client no longer has a session in which it could ask: the
	// client has given the session up, or was closed without reaching a server. The
	// servers delete the node when they end the session, at most the session timeout,
	// rounded up to their tick, after the client's last contact. A new leader grants
	// every session its whole timeout again, from its election on, and servers without
	// a leader delete nothing. An open client also deletes the node when it has a
	// connection.
	ErrLeftToServers = errors.New("node is left to the servers")

	// ErrSuspended means that the connection was interrupted, where the error
	// policy treats that as loss.
	ErrSuspended = errors.New("connection suspended")

	// ErrWatchStopped means that a watch was stopped before it fired.
	ErrWatchStopped = watches.ErrStopped

	// ErrOutcomeUnknown means that a write was sent, that no answer has shown whether
	// the write was applied, and that it may still be applied later. The caller must
	// read the present state and decide. The client repeats a request that was never
	// sent. What follows a lost reply depends on the operation:
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
	// "Repeated" ends with the client's retry policy, with ctx, and with an error that
	// is not an error of the connection. If the reply to an earlier attempt of a write
	// was lost, that error also matches ErrOutcomeUnknown. The outcome of any write is
	// unknown if ctx ends or the client is closed while the reply is awaited, or if a
	// server answers that it has failed.
	//
	// In a later session, a stalled server may still apply a request of the lost
	// session. That request may overwrite data that a repeated write, or another
	// client, has written since.
	ErrOutcomeUnknown = errors.New("outcome unknown")

	// ErrRequestTooLarge means that a request was not sent because it is longer than
	// WithMaxRequestSize allows, which is the servers' own limit unless set otherwise.
	// The error also matches zk.ErrShortBuffer, go-zookeeper's error for this case.
	ErrRequestTooLarge = fmt.Errorf("request too large: %w", zk.ErrShortBuffer)

	// ErrAnswerTooLarge means that the server's answer is longer than 64 MiB, most
	// likely a listing of very many children.
	ErrAnswerTooLarge = errors.New("answer too large")
)

// OpError is the error of every operation of a Client. errors.Is finds the zk.Err
// value, the context's error and its cause, or one of the errors above. The cause of a
// context may be the error of another call: see ServerCode.
type OpError struct {
	Op   string // such as "create"
	Path string // the caller's path, without chroot and namespace; for "session" and "connect", the servers
	Err  error
}

// Error returns a text such as: create /locks/a: zk: node already exists. A path that
// cannot be printed is quoted, and an empty path is omitted.
func (e *OpError) Error() string {
	if e.Path == "" {
		return e.Op + ": " + e.Err.Error()
	}
	return e.Op + " " + printable.String(e.Path) + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *OpError) Unwrap() error { return e.Err }

// HangUpError means that several connections in a row have ended while the same long
// request was in flight, although other requests were answered in between. A server
// ends the connection without an answer when a request is longer than its
// jute.maxbuffer. The wrapping *OpError names the operation and the path. A write may
// still have been carried out; its error then matches ErrOutcomeUnknown.
type HangUpError struct {
	Size int // the size of the request, in bytes
	Ends int // how many connections in a row have ended
}

// Error returns a text with the length of the request and a hint about the servers' limit.
func (e *HangUpError) Error() string {
	return fmt.Sprintf("the last %d connections have ended with this request of %d bytes in flight: "+
		"is jute.maxbuffer of the servers lower than that?", e.Ends, e.Size)
}

// Is reports whether target is a *HangUpError with any fields.
func (e *HangUpError) Is(target error) bool {
	_, ok := target.(*HangUpError)
	return ok
}

// These errors are parts of other errors.
var (
	errNotSent         = errors.New("request not sent")                           // because a context had ended
	errClosedMeanwhile = fmt.Errorf("%w while the answer was awaited", ErrClosed) // whatever the answer was
	errRefused         = fmt.Errorf("no connection: %w", zk.ErrAuthFailed)        // the request was not sent
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

// serverErrors names the codes without a name in go-zookeeper.
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

// ServerCode returns the code of the server's answer that has caused an error, as in
// ZooKeeper's KeeperException.Code, and false if no answer has caused it. If an error
// wraps several answers, ServerCode returns the first code in the order of errors.Is. A
// *ConfigError has the code with which a server would have answered. Unlike errors.Is,
// ServerCode does not take the cause of the caller's context for an answer.
func ServerCode(err error) (code int32, ok bool) {
	reason.Find(err, func(part error) bool {
		code, ok = codeOf(part)
		return ok
	})
	return code, ok
}

// codeOf returns the code of an answer. It ignores wrapped errors.
func codeOf(part any) (code int32, ok bool) {
	switch e := part.(type) {
	case *ServerError:
		return e.Code, true
	case *ConfigError:
		return codeOf(cmp.Or(e.kind, zk.ErrBadArguments))
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

// ErrUnimplemented is the answer of a server whose version lacks the request.
var ErrUnimplemented error = &ServerError{Code: proto.CodeUnimplemented}

var errThrottled = &ServerError{Code: proto.CodeThrottled} // not carried out

func notSent(ctx context.Context) error {
	return fmt.Errorf("%w: %w", errNotSent, reason.OfContext(ctx))
}

// ConfigError names an argument or option that cannot be used, and the reason. New,
// every operation and the recipes return a ConfigError for a nil option and for an
// invalid value; they never panic and never ignore the value.
//
// A ConfigError matches zk.ErrBadArguments. For an access control list it also matches
// zk.ErrInvalidACL, and for a mode zk.ErrInvalidFlags.
type ConfigError struct {
	Name   string // such as "session timeout"
	Value  string
	Reason string

	kind error // a second error that it matches, or nil
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

func badArgument(name, value, reason string) *ConfigError {
	return &ConfigError{Name: name, Value: value, Reason: reason}
}

// isNil returns the error of an argument that must not be nil.
func isNil(name string) *ConfigError {
	return badArgument(name, "nil", "must not be nil")
}

// invalid is badArgument for an error that also matches a kind.
func invalid(kind error, name, value, reason string) *ConfigError {
	return &ConfigError{name, value, reason, kind}
}

// apply calls the options of an operation. A nil option is an error.
func apply[T any, O ~func(*T)](to *T, opts []O) error {
	for _, opt := range opts {
		if opt == nil {
			return isNil("option")
		}
		opt(to)
	}
	return nil
}

// present reports whether an interface value can be called: it is neither nil nor a nil
// pointer, whose methods would panic.
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

// connectError is the error of a wait for a connection, with the known reasons, which
// may be old.
type connectError struct {
	ended   error
	attempt error // why the last attempt to connect failed, or nil
	reasons string
}

func (e *connectError) Error() string { return e.ended.Error() + " (" + e.reasons + ")" }

// Unwrap returns the error that ended the wait, and then the reason for the missing
// connection.
func (e *connectError) Unwrap() []error {
	if e.attempt == nil {
		return []error{e.ended}
	}
	return []error{e.ended, reason.Foreign(attemptError{e.attempt})}
}

// attemptError lets errors.Is and errors.As find the reason for a failed attempt to
// connect, such as syscall.ECONNREFUSED, in an operation's error. It hides every error
// that could be mistaken for an error of the operation. In particular, a dial that
// timed out matches context.DeadlineExceeded, but that was not the caller's deadline.
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
