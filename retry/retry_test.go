package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/retry"
)

var (
	errTransient = errors.New("transient")
	errFatal     = errors.New("fatal")
)

func transient(err error) bool { return errors.Is(err, errTransient) }

// attempts runs an op that always fails with err. It returns when each attempt
// was made, counted from the start, and the error of Do.
func attempts(ctx context.Context, p retry.Policy, err error) ([]time.Duration, error) {
	start := time.Now()
	var at []time.Duration
	got := retry.Do(ctx, p, transient, func(context.Context) error {
		at = append(at, time.Since(start))
		return err
	})
	return at, got
}

// What is nil is an error also if no attempt fails, when nobody would need it.
func TestNilArgumentsAreErrors(t *testing.T) {
	called := 0
	op := func(context.Context) error { called++; return nil }
	require.ErrorContains(t, retry.Do(t.Context(), nil, transient, op), "must not be nil")
	require.ErrorContains(t, retry.Do(t.Context(), retry.None(), nil, op), "must not be nil")
	require.ErrorContains(t, retry.Do(t.Context(), retry.None(), transient, nil), "must not be nil")
	require.Zero(t, called)
}

func TestSchedules(t *testing.T) {
	const s = time.Second
	for name, tc := range map[string]struct {
		policy retry.Policy
		want   int
	}{
		"none":               {retry.None(), 1},
		"exponential":        {retry.Exponential(s, s, 3), 4},
		"exponential of one": {retry.Exponential(s, s, 1), 2},
		"of zero":            {retry.Exponential(s, s, 0), 1},
		"below zero":         {retry.Exponential(s, s, -1), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for range 2 { // a policy is used again from its beginning
					at, err := attempts(t.Context(), tc.policy, errTransient)
					require.ErrorIs(t, err, errTransient)
					require.Len(t, at, tc.want)
					for i := 1; i < len(at); i++ {
						require.InDelta(t, s, at[i]-at[i-1], float64(s)/2)
					}
				}
			})
		})
	}
}

func TestForeverEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour+time.Millisecond)
		defer cancel()
		at, err := attempts(ctx, retry.Forever(time.Hour), errTransient)
		require.Len(t, at, 25)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, errTransient, "the last failure is not forgotten")
	})
}

func TestFinalErrorsAreNotWrapped(t *testing.T) {
	at, err := attempts(t.Context(), retry.Forever(time.Hour), errFatal)
	require.Len(t, at, 1)
	require.True(t, err == errFatal)

	_, err = attempts(t.Context(), retry.None(), errTransient)
	require.True(t, err == errTransient)
}

func TestExhaustedSaysHowOften(t *testing.T) {
	_, err := attempts(t.Context(), retry.Exponential(1, 1, 2), errTransient)
	require.EqualError(t, err, "transient (after 3 attempts)")
}

func TestEndedContextMakesNoAttempt(t *testing.T) {
	why := errors.New("the shop is closed")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	at, err := attempts(ctx, retry.Forever(time.Hour), errTransient)
	require.Empty(t, at)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, why)
	require.EqualError(t, err, "context canceled: the shop is closed")
}

func TestCancelDuringPauseReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := attempts(ctx, retry.Forever(time.Hour), errTransient)
		require.Equal(t, time.Second, time.Since(start))
		require.EqualError(t, err, "context deadline exceeded while retrying after: transient")
	})
}

// A pause ends early for a policy that says when, as the client's does.
type stopped struct {
	retry.Policy
	stop chan struct{}
}

func (s stopped) Stop() <-chan struct{} { return s.stop }

func TestPauseIsGivenUpWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stopped{retry.Forever(time.Hour), make(chan struct{})}
		time.AfterFunc(time.Minute, func() { close(p.stop) })
		at, err := attempts(t.Context(), p, errTransient)
		require.ErrorIs(t, err, errTransient)
		require.Len(t, at, 1)
	})
}
