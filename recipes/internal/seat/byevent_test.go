package seat

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/order"
)

// These are the conditions under which a contender is the next for sure.
func TestNextForSure(t *testing.T) {
	type situation struct {
		cfg Config
		now order.Standing
		b   blocker
		c   contender
	}
	for name, change := range map[string]func(s *situation){
		"":                           func(*situation) {},
		"others are ahead":           func(s *situation) { s.now.Ahead = 2 },
		"the recipe does not say":    func(s *situation) { s.cfg.EntersAfter = nil },
		"the recipe says no":         func(s *situation) { s.cfg.EntersAfter = func(_, _ string) bool { return false } },
		"it may have two nodes":      func(s *situation) { s.c.mayHaveTwin = true },
		"both are of one session":    func(s *situation) { s.b.stat.EphemeralOwner = s.c.node.Session.ID() },
		"the number ahead is larger": func(s *situation) { s.now.Blocker = "lock-0000000003" },
		"both have the same number":  func(s *situation) { s.now.Blocker = "a-lock-0000000002" },
		"it has no number":           func(s *situation) { s.c.node.Path = "/l/lock-" },
	} {
		t.Run(name, func(t *testing.T) {
			withHold(t, func(t *testing.T, w held) {
				s := situation{
					cfg: Config{Kinds: []string{"lock-"}, Blocks: order.Exclusive, EntersAfter: order.Exclusive},
					now: order.Standing{Ahead: 1, Length: 2, Blocker: "lock-0000000001"},
					b:   blocker{stat: &zk.Stat{EphemeralOwner: 7}},
					c:   contender{node: framework.Created{Path: "/l/lock-0000000002", Session: w.hold.seat.session()}},
				}
				change(&s)
				s.c.lock = &Lock{cfg: s.cfg}
				require.Equal(t, name == "", s.c.isNextIn(s.now, &s.b))
			})
		})
	}
}
