package reason_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/reason"
)

var errAnswer = errors.New("answer")

// Users find the cause of a context in its error, and the library does not.
//
// Promise: The cause of the caller's context is never taken for the server's reply.
func TestCauseIsNoAnswer(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("another call: %w", &fs.PathError{Op: "get", Path: "/a", Err: errAnswer}))
	err := fmt.Errorf("get /b: %w", reason.OfContext(ctx))

	require.ErrorIs(t, err, errAnswer)
	require.ErrorIs(t, err, context.Canceled)
	var path *fs.PathError
	require.ErrorAs(t, err, &path)

	require.False(t, reason.Is(err, errAnswer))
	require.True(t, reason.Is(err, context.Canceled))
	path = nil
	require.False(t, reason.As(err, &path))
	require.Nil(t, path)
	require.EqualError(t, err, "get /b: context canceled: another call: get /a: answer")
}

// An answer is found where it stands, also beside a cause.
func TestAnswerIsFound(t *testing.T) {
	answer := &fs.PathError{Op: "get", Path: "/a", Err: errAnswer}
	for name, err := range map[string]error{
		"itself":         answer,
		"wrapped":        fmt.Errorf("x: %w", answer),
		"joined":         errors.Join(errors.New("x"), answer),
		"beside a cause": fmt.Errorf("%w: %w", reason.Foreign(fs.ErrExist), answer),
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, reason.Is(err, errAnswer))
			var found *fs.PathError
			require.True(t, reason.As(err, &found))
			require.Same(t, answer, found)
			require.False(t, reason.Is(err, fs.ErrExist))
		})
	}
	require.False(t, reason.Is(nil, errAnswer))
}

// endedContext has an error that no context of the standard library has.
type endedContext struct {
	context.Context
	err error
}

func (c endedContext) Err() error { return c.err }

// matchesAll is an error with an Is method, of a type that == cannot compare.
type matchesAll []string

func (matchesAll) Error() string   { return "matches all" }
func (matchesAll) Is(_ error) bool { return true }

func TestMethodIs(t *testing.T) {
	require.True(t, reason.Is(matchesAll{}, errAnswer))
	require.False(t, reason.Is(reason.Foreign(matchesAll{}), errAnswer))
	require.False(t, reason.Is(errAnswer, matchesAll{}))
}

// The library knows the end of a context in an error, whoever made the context.
func TestEndOfAContextIsKnown(t *testing.T) {
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errAnswer)
	for name, ctx := range map[string]context.Context{
		"standard library": cancelled, "user": endedContext{t.Context(), errAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, reason.IsOfContext(ctx, fmt.Errorf("x: %w", reason.OfContext(ctx))))
			require.False(t, reason.IsOfContext(ctx, errAnswer))
			require.False(t, reason.IsOfContext(ctx, reason.Foreign(context.Canceled)))
		})
	}
	require.False(t, reason.IsOfContext(t.Context(), context.Canceled))
}

// Is agrees with errors.Is about nil.
func TestNilIsNoErrorButItself(t *testing.T) {
	for _, err := range []error{nil, errAnswer, reason.Foreign(errAnswer)} {
		require.Equal(t, errors.Is(err, nil), reason.Is(err, nil))
	}
	require.False(t, reason.Is(nil, errAnswer))
}
