package grpcresolver

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/balancer"

	"github.com/gocurator/curator/recipes/discovery"
)

// fixed is the picker of a child. It answers with what it is.
type fixed struct {
	result balancer.PickResult
	err    error
}

func (f fixed) Pick(balancer.PickInfo) (balancer.PickResult, error) { return f.result, f.err }

// pick makes one attempt with a child, and ends it.
func pick(t *testing.T, p *discovery.Picker, child balancer.Picker, end balancer.DoneInfo) error {
	t.Helper()
	c := &choice{p, map[string]balancer.Picker{"a": child, "b": child}}
	result, err := c.Pick(balancer.PickInfo{Ctx: t.Context()})
	if err == nil {
		result.Done(end)
	}
	return err
}

// isOut reports whether one of the two instances is out, by asking for both.
func isOut(p *discovery.Picker) bool {
	seen := map[string]bool{}
	for range 4 {
		i, request, err := p.Pick()
		if err != nil {
			return true
		}
		request.Done(context.Canceled) // says nothing
		seen[i.ID] = true
	}
	return len(seen) < 2
}

func newPicker(t *testing.T) *discovery.Picker {
	t.Helper()
	p, err := policy{"p", discovery.RoundRobin(), nil}.newPicker(nil)
	require.NoError(t, err)
	p.Update([]discovery.Instance{{ID: "a", Address: "a", Port: 1}, {ID: "b", Address: "b", Port: 1}})
	return p
}

// An attempt that was not made says nothing of an instance: the child has no
// connection any more, has lost it before anything was sent, or is not there yet.
func TestAttemptThatWasNotMade(t *testing.T) {
	t.Parallel()
	var calls int
	counting := fixed{result: balancer.PickResult{Done: func(balancer.DoneInfo) { calls++ }}}
	failed := balancer.DoneInfo{Err: errors.New("so it is"), BytesSent: true}
	p := newPicker(t)
	for range 8 {
		require.NoError(t, pick(t, p, counting, failed))
	}
	unsent := balancer.DoneInfo{Err: errors.New("the connection is closing")}
	for range 20 {
		require.NoError(t, pick(t, p, counting, unsent))
	}
	for range 20 { // they are no success either
		require.NoError(t, pick(t, p, counting, balancer.DoneInfo{}))
		require.ErrorIs(t, pick(t, p, fixed{err: balancer.ErrNoSubConnAvailable}, failed), balancer.ErrNoSubConnAvailable)
		require.ErrorIs(t, pick(t, p, nil, failed), balancer.ErrNoSubConnAvailable)
	}
	require.False(t, isOut(p))
	require.Equal(t, 48, calls, "the child is told as well")
	for range 2 {
		require.NoError(t, pick(t, p, counting, failed))
	}
	require.True(t, isOut(p), "the fifth in a row")
}
