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
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// troubles are the errors of a server that has trouble itself. They go away
// with time.
var troubles = []zktest.Code{
	zktest.ErrSystem, zktest.ErrOperationTimeout, zktest.ErrRequestTimeout, zktest.ErrThrottled, zktest.ErrSessionMoved,
	zktest.ErrConnectionLoss, zktest.ErrSessionExpired,
}

// A candidacy goes on in the background, where it has no caller to return an
// error to. So it outlasts the errors of a server in trouble, at each of its
// requests. An acquire may return them.
//
// Promise: Outages and server errors do not end a candidacy.
func TestCandidacyOutlastsTheServersTrouble(t *testing.T) {
	for _, code := range troubles {
		t.Run(code.Error(), func(t *testing.T) {
			all := eachRequestOfACandidacy{trouble: 20, fault: func(*world, int64) zktest.Action { return zktest.Fail(code) }}
			all.run(t)
		})
	}
}

// A fault happens to one request, whichever it is: from the creation of the
// node to its deletion, and in the next candidacy. The latch leads all the
// same.
func TestCandidacyUnderAFaultAtEveryRequest(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(recipetest.Faults(nil, 0))) {
		for _, policy := range []state.ErrorPolicy{state.SessionPolicy, state.StandardPolicy} {
			t.Run(name+"/"+policy.String(), func(t *testing.T) {
				all := eachRequestOfACandidacy{trouble: 1, policy: policy, fault: func(w *world, session int64) zktest.Action {
					return recipetest.Faults(w.World, session)[name]
				}}
				all.run(t)
			})
		}
	}
}

// eachRequestOfACandidacy runs a candidacy for each of its requests. In each
// run, the fault happens to another request.
type eachRequestOfACandidacy struct {
	trouble int // how many requests have the fault, from the i-th on
	policy  state.ErrorPolicy
	fault   func(w *world, session int64) zktest.Action
}

func (e eachRequestOfACandidacy) run(t *testing.T) {
	recipetest.EachRequest(t, 3, func(t *testing.T, i int) (hit bool) {
		inVirtualTime(t, func(t *testing.T, w *world) { hit = e.at(t, w, i) })
		return hit
	})
}

// at waits for the leadership behind another latch, resigns, and leads again.
// It reports whether there was an i-th request.
func (e eachRequestOfACandidacy) at(t *testing.T, w *world, i int) (hit bool) {
	first, _ := w.startLatches(t, "/l", 1)
	c, _ := w.Connect(t, framework.WithErrorPolicy(e.policy))
	rule := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), After: i, Times: e.trouble, Do: e.fault(w, c.SessionID())})
	l := latch(t, c, "/l")
	time.Sleep(time.Minute)
	require.NoError(t, first[0].Shutdown(t.Context()))
	lease := w.await(t, l)
	time.Sleep(time.Minute)
	lease.Release(t.Context()) // the leadership may have been lost meanwhile
	w.await(t, l)
	time.Sleep(time.Minute)
	require.NotNil(t, l.Leadership())
	require.Len(t, w.Fake.Children("/l"), 1)
	hit = rule.Hits() > 0
	rule.Remove()
	w.closeAll(t, "/l", l)
	return hit
}

// interventions are what may happen to a candidate at any moment.
var interventions = map[string]func(w *world, c *framework.Client, l *leader.Latch, network *recipetest.Network){
	"shut down": func(_ *world, _ *framework.Client, l *leader.Latch, _ *recipetest.Network) {
		l.Shutdown(context.Background())
	},
	"close client": func(_ *world, c *framework.Client, _ *leader.Latch, _ *recipetest.Network) { c.Close() },
	"resign": func(_ *world, _ *framework.Client, l *leader.Latch, _ *recipetest.Network) {
		l.Resign(context.Background())
	},
	"cut": func(_ *world, _ *framework.Client, _ *leader.Latch, network *recipetest.Network) { network.Cut() },
	"expire": func(w *world, c *framework.Client, _ *leader.Latch, _ *recipetest.Network) {
		w.Fake.Session(c.SessionID()).Expire()
	},
	"cut and shut down": func(_ *world, _ *framework.Client, l *leader.Latch, network *recipetest.Network) {
		network.Cut()
		l.Shutdown(context.Background())
	},
	"hand over": func(_ *world, _ *framework.Client, l *leader.Latch, _ *recipetest.Network) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		l.HandOver(ctx)
	},
	"delete its node": func(w *world, c *framework.Client, _ *leader.Latch, _ *recipetest.Network) {
		for _, node := range w.Fake.Session(c.SessionID()).Ephemerals() {
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

// Each intervention comes at every moment of a candidate's life. Afterwards
// there is one leader, Changes has told beginnings and ends in turn, and nothing
// is left behind.
func TestInterventionAtEveryRequestOfACandidacy(t *testing.T) {
	t.Parallel()
	for _, intervention := range slices.Sorted(maps.Keys(interventions)) {
		for _, policy := range []state.ErrorPolicy{state.SessionPolicy, state.StandardPolicy} {
			for _, behind := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%v/behind=%v", intervention, policy, behind), func(t *testing.T) {
					recipetest.EachRequest(t, 3, func(t *testing.T, i int) (hit bool) {
						inVirtualTime(t, func(t *testing.T, w *world) { hit = w.interveneAt(t, intervention, policy, behind, i) })
						return hit
					})
				})
			}
		}
	}
}

// interveneAt intervenes at the i-th request of a latch that leads first, or
// that waits behind another. It reports whether there was such a request.
func (w *world) interveneAt(t *testing.T, intervention string, policy state.ErrorPolicy, behind bool, i int) (hit bool) {
	const soon = 5 * time.Second
	c, network := w.Connect(t, framework.WithErrorPolicy(policy))
	rival, _ := w.Connect(t, framework.WithErrorPolicy(policy))
	var l, other *leader.Latch
	followed, heard := make(chan struct{}), make(chan []leader.Change)
	rule := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), After: i, Do: zktest.Call(func(zktest.Request) {
		go func() {
			<-followed
			interventions[intervention](w, c, l, network)
		}()
	})})
	stand := func() {
		l = latch(t, c, "/l")
		changes := l.Changes(t.Context())
		go func() {
			list, _ := collect(changes)
			heard <- list
		}()
		close(followed)
	}
	if !behind {
		stand()
		time.Sleep(soon)
	}
	other = latch(t, rival, "/l")
	time.Sleep(soon)
	first := other
	if behind {
		stand()
		time.Sleep(soon)
	} else {
		first = l
	}
	first.HandOver(recipetest.Within(t, soon))
	time.Sleep(soon)
	network.Cut()
	time.Sleep(time.Minute)
	require.NotEqual(t, l.Leadership() == nil, other.Leadership() == nil, "one leads")
	require.NoError(t, l.Shutdown(t.Context()))
	synctest.Wait()
	for i, change := range <-heard {
		assert.Equal(t, i%2 == 1, change.Ended != nil, "change %d: %v", i, change.Ended)
	}
	w.await(t, other)
	hit = rule.Hits() > 0
	w.closeAll(t, "/l", other)
	return hit
}
