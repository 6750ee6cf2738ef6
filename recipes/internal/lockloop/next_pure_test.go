package lockloop

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// Promise: Sequence numbers that the server did not count prove no order.
func TestNumbersThatProveTheOrder(t *testing.T) {
	for _, tc := range []struct {
		ours, ahead int32
		want        bool
	}{
		{1, 0, true},
		{math.MaxInt32 - 1, 0, true},
		{1, 1, false},
		{1, 2, false},
		{math.MaxInt32, 0, false},
		{-5, 0, false},
		{1, -5, false},
		{1, math.MaxInt32, false},
		{math.MaxInt32, math.MaxInt32, false},
	} {
		require.Equal(t, tc.want, follows(Entry{Seq: tc.ours}, Entry{Seq: tc.ahead}), "%+v", tc)
	}
}

// These are the conditions under which a contender is the next for sure.
func TestNextForSure(t *testing.T) {
	next := func() (Order, Standing, *contender) {
		return Order{Blocks: Exclusive, EntersAfter: Exclusive},
			Standing{Ahead: 1, Length: 2, Blocker: "lock-0000000001"},
			&contender{
				loop: &Loop{nodes: Nodes{Kinds: []string{"lock-"}}},
				node: framework.Created{Path: "/l/lock-0000000002"},
			}
	}
	for name, change := range map[string]func(o *Order, now *Standing, c *contender){
		"":                           func(*Order, *Standing, *contender) {},
		"others are ahead":           func(_ *Order, now *Standing, _ *contender) { now.Ahead = 2 },
		"the recipe does not say":    func(o *Order, _ *Standing, _ *contender) { o.EntersAfter = nil },
		"the recipe says no":         func(o *Order, _ *Standing, _ *contender) { o.EntersAfter = func(_, _ string) bool { return false } },
		"it is in a crowd":           func(_ *Order, _ *Standing, c *contender) { c.attempt.Crowd = new(Crowd) },
		"it may have two nodes":      func(_ *Order, _ *Standing, c *contender) { c.mayHaveTwin = true },
		"the number ahead is larger": func(_ *Order, now *Standing, _ *contender) { now.Blocker = "lock-0000000003" },
		"both have the same number":  func(_ *Order, now *Standing, _ *contender) { now.Blocker = "a-lock-0000000002" },
		"it has no number":           func(_ *Order, _ *Standing, c *contender) { c.node.Path = "/l/lock-" },
	} {
		t.Run(name, func(t *testing.T) {
			o, now, c := next()
			change(&o, &now, c)
			require.Equal(t, name == "", o.isNextIn(now, c))
		})
	}
}
