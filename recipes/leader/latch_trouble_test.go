package leader_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// troubles are what a server may say of itself, and what waiting cures.
var troubles = []zktest.Code{
	zktest.ErrSystem, zktest.ErrOperationTimeout, zktest.ErrRequestTimeout, zktest.ErrThrottled, zktest.ErrSessionMoved,
	zktest.ErrConnectionLoss, zktest.ErrSessionExpired,
}

// Nobody looks at a candidacy while it waits. It outlasts what an acquire,
// which somebody waits for, may return, from any of its requests on.
func TestCandidacyOutlastsTheServersTrouble(t *testing.T) {
	for _, code := range troubles {
		t.Run(code.Error(), func(t *testing.T) {
			all := eachRequestOfACandidacy{trouble: 20, fate: func(*world, int64) zktest.Action { return zktest.Fail(code) }}
			all.run(t)
		})
	}
}

// Whatever becomes of any one request, from the creation of the node to its
// deletion, and the next candidacy: it leads.
func TestCandidacyUnderAFaultAtEveryRequest(t *testing.T) {
	for _, fate := range slices.Sorted(maps.Keys(recipetest.Faults(nil, 0))) {
		for _, policy := range []state.ErrorPolicy{state.SessionPolicy, state.StandardPolicy} {
			t.Run(fate+"/"+policy.String(), func(t *testing.T) {
				all := eachRequestOfACandidacy{trouble: 1, policy: policy, fate: func(w *world, session int64) zktest.Action {
					return recipetest.Faults(w.World, session)[fate]
				}}
				all.run(t)
			})
		}
	}
}

// eachRequestOfACandidacy runs candidacies of which one request after the
// other meets with a fate.
type eachRequestOfACandidacy struct {
	trouble int // how many requests, from the one on
	policy  state.ErrorPolicy
	fate    func(w *world, session int64) zktest.Action
}

func (e eachRequestOfACandidacy) run(t *testing.T) {
	requests := 0
	for hit := true; hit; requests++ {
		inVirtualTime(t, func(t *testing.T, w *world) { hit = e.at(t, w, requests) })
	}
	require.Greater(t, requests, 3, "it meets some")
}

// at waits for the leadership behind another latch, resigns, and leads again.
// It reports whether its i-th request was met.
func (e eachRequestOfACandidacy) at(t *testing.T, w *world, i int) (hit bool) {
	first, _ := w.stands(t, "/l", 1)
	c, _ := w.Connect(t, framework.WithErrorPolicy(e.policy))
	rule := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), After: i, Times: e.trouble, Do: e.fate(w, c.SessionID())})
	l := latch(t, c, "/l")
	time.Sleep(time.Minute)
	require.NoError(t, first[0].Close(t.Context()))
	lease := w.await(t, l)
	time.Sleep(time.Minute)
	lease.Release(t.Context()) // may have been lost meanwhile
	w.await(t, l)
	time.Sleep(time.Minute)
	require.NotNil(t, l.Leadership())
	require.Len(t, w.Fake.Children("/l"), 1)
	hit = rule.Hits() > 0
	rule.Remove()
	w.closeAll(t, "/l", l)
	return hit
}

// deeds are what may be done to a candidate at any moment.
var deeds = map[string]func(w *world, c *framework.Client, l *leader.Latch, network *recipetest.Network){
	"close": func(_ *world, _ *framework.Client, l *leader.Latch, _ *recipetest.Network) {
		l.Close(context.Background())
	},
	"close client": func(_ *world, c *framework.Client, _ *leader.Latch, _ *recipetest.Network) { c.Close() },
	"resign": func(_ *world, _ *framework.Client, l *leader.Latch, _ *recipetest.Network) {
		l.Resign(context.Background())
	},
	"cut": func(_ *world, _ *framework.Client, _ *leader.Latch, network *recipetest.Network) { network.Cut() },
	"expire": func(w *world, c *framework.Client, _ *leader.Latch, _ *recipetest.Network) {
		w.Fake.ExpireSession(c.SessionID())
	},
	"cut and close": func(_ *world, _ *framework.Client, l *leader.Latch, network *recipetest.Network) {
		network.Cut()
		l.Close(context.Background())
	},
	"hand over": func(_ *world, _ *framework.Client, l *leader.Latch, _ *recipetest.Network) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		l.HandOver(ctx)
	},
	"delete its node": func(w *world, c *framework.Client, _ *leader.Latch, _ *recipetest.Network) {
		for _, node := range w.Fake.Ephemerals(c.SessionID()) {
			w.Fake.Delete(node)
		}
	},
	"delete everything": func(w *world, _ *framework.Client, _ *leader.Latch, _ *recipetest.Network) {
		for _, name := range w.Fake.Children("/l") {
			w.Fake.Delete("/l/" + name)
		}
		w.Fake.Delete("/l")
	},
}

// Whatever is done at any moment of a candidate's life, there is one leader
// afterwards, beginnings and ends were told in turn, and nothing is left.
func TestDeedAtEveryRequestOfACandidacy(t *testing.T) {
	for _, deed := range slices.Sorted(maps.Keys(deeds)) {
		for _, policy := range []state.ErrorPolicy{state.SessionPolicy, state.StandardPolicy} {
			for _, behind := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%v/behind=%v", deed, policy, behind), func(t *testing.T) {
					requests := 0
					for hit := true; hit; requests++ {
						inVirtualTime(t, func(t *testing.T, w *world) { hit = w.deedAt(t, deed, policy, behind, requests) })
					}
					require.Greater(t, requests, 3, "it meets some")
				})
			}
		}
	}
}

// deedAt has something done at the i-th request of a latch that leads first,
// or stands behind another, and reports whether there was such a request.
func (w *world) deedAt(t *testing.T, deed string, policy state.ErrorPolicy, behind bool, i int) (hit bool) {
	const soon = 5 * time.Second
	c, network := w.Connect(t, framework.WithErrorPolicy(policy))
	rival, _ := w.Connect(t, framework.WithErrorPolicy(policy))
	l, other := leader.NewLatch(c, "/l"), leader.NewLatch(rival, "/l")
	order := []*leader.Latch{l, other}
	if behind {
		order = []*leader.Latch{other, l}
	}
	rule := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), After: i, Do: zktest.Call(func(zktest.Request) {
		go deeds[deed](w, c, l, network)
	})})
	heard := make(chan []leader.Change)
	changes := l.Changes(t.Context())
	go func() { heard <- slices.Collect(changes) }()
	for _, l := range order {
		if err := l.Start(); l == other {
			require.NoError(t, err)
		}
		time.Sleep(soon)
	}
	order[0].HandOver(recipetest.Within(t, soon))
	time.Sleep(soon)
	network.Cut()
	time.Sleep(time.Minute)
	require.NotEqual(t, l.Leadership() == nil, other.Leadership() == nil, "one leads")
	require.NoError(t, l.Close(t.Context()))
	synctest.Wait()
	for i, change := range <-heard {
		assert.Equal(t, i%2 == 1, change.Ended != nil, "change %d: %v", i, change.Ended)
	}
	w.await(t, other)
	hit = rule.Hits() > 0
	w.closeAll(t, "/l", other)
	return hit
}
