package framework

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// libraryValues are go-zookeeper's errors by name.
var libraryValues = map[string]error{
	"ErrAPIError": zk.ErrAPIError, "ErrAuthFailed": zk.ErrAuthFailed, "ErrBadArguments": zk.ErrBadArguments,
	"ErrBadVersion": zk.ErrBadVersion, "ErrClosing": zk.ErrClosing, "ErrConnectionClosed": zk.ErrConnectionClosed,
	"ErrDeadlock": zk.ErrDeadlock, "ErrInvalidACL": zk.ErrInvalidACL, "ErrInvalidFlags": zk.ErrInvalidFlags,
	"ErrInvalidPath": zk.ErrInvalidPath, "ErrNoAuth": zk.ErrNoAuth, "ErrNoChildrenForEphemerals": zk.ErrNoChildrenForEphemerals,
	"ErrNoNode": zk.ErrNoNode, "ErrNoServer": zk.ErrNoServer, "ErrNodeExists": zk.ErrNodeExists, "ErrNotEmpty": zk.ErrNotEmpty,
	"ErrNotLocked": zk.ErrNotLocked, "ErrNothing": zk.ErrNothing, "ErrPtrExpected": zk.ErrPtrExpected,
	"ErrReconfigDisabled": zk.ErrReconfigDisabled, "ErrSessionExpired": zk.ErrSessionExpired,
	"ErrSessionMoved": zk.ErrSessionMoved, "ErrShortBuffer": zk.ErrShortBuffer,
	"ErrUnhandledFieldType": zk.ErrUnhandledFieldType, "ErrUnknown": zk.ErrUnknown,
}

// ownValues are this package's, with what errorClasses has for them.
var ownValues = map[string]error{
	"ErrClosed": ErrClosed, "ErrNotConnected": ErrNotConnected, "ErrSessionLost": ErrSessionLost,
	"ErrOutcomeUnknown": ErrOutcomeUnknown, "ErrRequestTooLarge": ErrRequestTooLarge,
	"ErrAnswerTooLarge": ErrAnswerTooLarge,
	"ErrUnimplemented":  ErrUnimplemented,
}

// notOfRequests are this package's errors that end no request.
var notOfRequests = []string{"ErrLeftToServers", "ErrSuspended", "ErrWatchStopped", "ErrRolledBack", "ErrNotAttempted"}

func TestEveryErrorHasAClass(t *testing.T) {
	library, err := build.Import("github.com/go-zookeeper/zk", ".", build.FindOnly)
	require.NoError(t, err)
	require.ElementsMatch(t, slices.Collect(maps.Keys(libraryValues)), errorNames(t, library.Dir), "the library's errors, as this test knows them")
	own := slices.Concat(slices.Collect(maps.Keys(ownValues)), notOfRequests)
	require.ElementsMatch(t, own, errorNames(t, "."), "this package's errors, as this test knows them")

	for name, err := range libraryValues {
		requireClass(t, name, err)
	}
	for name, err := range ownValues {
		requireClass(t, name, err)
	}
	for code := range libraryErrors {
		requireClass(t, fmt.Sprint(code), errorOf(code))
	}
	for code := range serverErrors {
		requireClass(t, fmt.Sprint(code), errorOf(code))
	}
	for _, err := range []error{context.Canceled, context.DeadlineExceeded} {
		requireClass(t, err.Error(), err)
	}
}

func requireClass(t *testing.T, name string, err error) {
	t.Helper()
	require.NotEqual(t, "unknown", classify(err).why, name)
}

// errorNames returns the exported variables of a package whose names begin with
// Err.
func errorNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, entry.Name()), nil, 0)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, spec := range g.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						if strings.HasPrefix(name.Name, "Err") {
							names = append(names, name.Name)
						}
					}
				}
			}
		}
	}
	require.NotEmpty(t, names)
	return names
}

func TestErrorClassesAreSoundAndReachable(t *testing.T) {
	for _, v := range errorClasses {
		require.Equal(t, v, classify(v.err), "%v is hidden by an earlier one", v.err)
		require.NotEmpty(t, v.why)
		require.Equal(t, v.outcome == unsent, neverSent(v.err))
		require.Equal(t, v.outcome == outcomeUnknown, ambiguous(v.err))
		require.Equal(t, v.outcome == notApplied, IsRefusal(v.err))
		require.Equal(t, v.retry == isRetryable, retryable(v.err))
		require.Equal(t, v.retry != notRetryable, IsConnectionError(v.err), "%v", v.err)
		require.False(t, v.outcome == notApplied && v.retry != notRetryable, "%v: what is refused is not repeated", v.err)
	}
	for _, f := range []func(error) bool{neverSent, ambiguous, IsRefusal, retryable, IsConnectionError} {
		require.False(t, f(nil))
	}
}

// Errors that are joined to others as the operations do it.
func TestClassesOfWrappedErrors(t *testing.T) {
	for _, tc := range []struct {
		err     error
		outcome outcome
		retry   retryClass
	}{
		{&OpError{"get", "/n", zk.ErrConnectionClosed}, outcomeUnknown, isRetryable},
		{fmt.Errorf("%w: %w", ErrSessionLost, zk.ErrConnectionClosed), outcomeUnknown, isRetryable},
		{fmt.Errorf("%w: %w", ErrSessionLost, zk.ErrNoServer), unsent, isRetryable},
		{fmt.Errorf("%w: %w", ErrClosed, zk.ErrNoServer), unsent, notRetryable},
		{errClosedMeanwhile, outcomeUnknown, notRetryable},
		{unknownOutcome(zk.ErrConnectionClosed), outcomeUnknown, notRetryable},
		{fmt.Errorf("%w: %w", errNotSent, context.Canceled), unsent, notRetryable},
		{fmt.Errorf("%w: %w", context.Canceled, ErrSessionLost), outcomeUnknown, notRetryable}, // the cause of a caller's context
		{&connectError{ErrNotConnected, nil, "IsRefusal"}, unsent, retryExhausted},
		{&connectError{ErrNotConnected, context.DeadlineExceeded, "slow"}, unsent, retryExhausted},
		{&connectError{ErrNotConnected, zk.ErrNoAuth, "odd dialer"}, unsent, retryExhausted},
		{&connectError{errRefused, ErrClosed, "odd dialer"}, unsent, notRetryable},
		{&connectError{fmt.Errorf("%w: %w: %w", ErrNotConnected, errNotSent, context.Canceled), io.EOF, "cut"}, unsent, notRetryable},
		{&TxnError{Err: zk.ErrNoNode}, notApplied, notRetryable},
		{errors.New("new"), outcomeUnknown, notRetryable},
		{&ServerError{Code: -1000}, outcomeUnknown, notRetryable},
	} {
		v := classify(tc.err)
		require.Equal(t, tc.outcome, v.outcome, "%v", tc.err)
		require.Equal(t, tc.retry, v.retry, "%v", tc.err)
	}
}
