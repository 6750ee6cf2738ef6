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
		want   []time.Duration
	}{
		"none":                    {retry.None(), []time.Duration{0}},
		"once":                    {retry.Once(s), []time.Duration{0, s}},
		"n":                       {retry.N(3, s), []time.Duration{0, s, 2 * s, 3 * s}},
		"n of zero":               {retry.N(0, s), []time.Duration{0}},
		"n below zero":            {retry.N(-1, s), []time.Duration{0}},
		"until elapsed":           {retry.UntilElapsed(3*s, s), []time.Duration{0, s, 2 * s, 3 * s}},
		"until elapsed, no time":  {retry.UntilElapsed(0, s), []time.Duration{0}},
		"until elapsed, too slow": {retry.UntilElapsed(s/2, s), []time.Duration{0}},
		"exponential of zero":     {retry.Exponential(s, 0), []time.Duration{0}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at, err := attempts(t.Context(), tc.policy, errTransient)
				require.ErrorIs(t, err, errTransient)
				require.Equal(t, tc.want, at)

				again, _ := attempts(t.Context(), tc.policy, errTransient)
				require.Equal(t, tc.want, again, "a policy is used again from its beginning")
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
	_, err := attempts(t.Context(), retry.N(2, time.Nanosecond), errTransient)
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

// Three attempts around three attempts are three attempts in all, not nine
// (CURATOR-559).
func TestNestedLoopsShareOneBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		err := retry.Do(t.Context(), retry.N(2, time.Second), transient, func(ctx context.Context) error {
			return retry.Do(ctx, retry.N(100, time.Hour), transient, func(context.Context) error {
				calls++
				return errTransient
			})
		})
		require.ErrorIs(t, err, errTransient)
		// The inner loop uses up both retries. The outer loop finds none left.
		require.Equal(t, 3, calls)
	})
}

func TestDoUntilGivesUpAPauseWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		time.AfterFunc(time.Minute, func() { close(stop) })
		start := time.Now()
		err := retry.DoUntil(t.Context(), stop, retry.Forever(time.Hour), transient,
			func(context.Context) error { return errTransient })
		require.ErrorIs(t, err, errTransient)
		require.Equal(t, time.Minute, time.Since(start))
	})
}

// A context may be kept for longer than the op that it was made for. A lease,
// for example, keeps the values of a context.
func TestBudgetEndsWithItsLoop(t *testing.T) {
	var kept context.Context
	require.NoError(t, retry.Do(t.Context(), retry.None(), transient, func(ctx context.Context) error {
		kept = ctx
		return nil
	}))
	at, _ := attempts(kept, retry.N(2, time.Nanosecond), errTransient)
	require.Len(t, at, 3)
}

// The time that UntilElapsed allows counts from the first attempt, and not from
// its failure.
func TestUntilElapsedCountsTheFirstAttempt(t *testing.T) {
	policy := retry.UntilElapsed(10*time.Second, time.Second)
	slow := func(at *[]time.Duration, took time.Duration) func(context.Context) error {
		start := time.Now()
		return func(context.Context) error {
			*at = append(*at, time.Since(start))
			time.Sleep(took)
			return errTransient
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		_ = retry.Do(t.Context(), policy, transient, slow(&at, 30*time.Second))
		require.Equal(t, []time.Duration{0}, at)

		at = nil
		_ = retry.Do(t.Context(), policy, transient, slow(&at, 4*time.Second))
		require.Equal(t, []time.Duration{0, 5 * time.Second, 10 * time.Second}, at)

		at = nil
		require.NoError(t, retry.Do(t.Context(), policy, transient, func(ctx context.Context) error {
			time.Sleep(time.Hour) // good work
			_ = retry.Do(ctx, retry.None(), transient, slow(&at, 4*time.Second))
			return nil
		}))
		require.Equal(t, []time.Duration{0, 5 * time.Second, 10 * time.Second}, at, "in a nested loop")
	})
}

// lossy is a call whose answer is lost as often as it says, and then not.
func lossy(ctx context.Context, lost int) error {
	return retry.Do(ctx, retry.None(), transient, func(context.Context) error {
		if lost--; lost >= 0 {
			return errTransient
		}
		return nil
	})
}

// Work that goes on for long outlasts any number of interruptions, if each of
// them is short enough.
func TestInterruptionsThatAreOverDoNotAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		err := retry.Do(t.Context(), retry.N(3, time.Second), transient, func(ctx context.Context) error {
			if fails {
				fails = false
				return errTransient
			}
			for range 30 {
				time.Sleep(24 * time.Hour)
				require.NoError(t, lossy(ctx, 2))
			}
			require.Error(t, lossy(ctx, 3), "the first attempt has used up one of three")
			require.NoError(t, lossy(ctx, 0))
			return lossy(ctx, 2)
		})
		require.NoError(t, err)
	})
}

// A loop whose op always does something well before it fails ends nevertheless.
func TestSuccessInsideAFailingLoopRefillsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, failing := range []func(context.Context) error{
			func(context.Context) error { return errTransient },
			func(ctx context.Context) error { return lossy(ctx, 100) },
			func(ctx context.Context) error {
				return retry.Do(ctx, retry.None(), transient, func(ctx context.Context) error {
					require.NoError(t, lossy(ctx, 0))
					return errTransient
				})
			},
		} {
			calls := 0
			err := retry.Do(t.Context(), retry.N(3, time.Second), transient, func(ctx context.Context) error {
				calls++
				require.NoError(t, lossy(ctx, 0))
				return failing(ctx)
			})
			require.ErrorIs(t, err, errTransient)
			require.LessOrEqual(t, calls, 4)
		}
	})
}
