package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// quick is how far each search goes, unless the flag -explore says it.
func quick() explore.Limits {
	return explore.Limits{Deviations: 2, Schedules: thorough.Size(400, 20)}
}

// brief is quick for scenarios that are short, and of which there are many.
func brief() explore.Limits {
	return explore.Limits{Deviations: 2, Schedules: thorough.Size(400, 8)}
}

// names returns the names of that many actors.
func names(n int) (names []string) {
	for i := range n {
		names = append(names, string(rune('A'+i)))
	}
	return names
}

// below returns the nodes of a tree that are below a path.
func below(tree explore.Tree, path string) (nodes []zktest.Node) {
	for _, n := range tree {
		if strings.HasPrefix(n.Path, path+"/") {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// nothingBelow is a check for the end.
func nothingBelow(path string) func(explore.Tree) error {
	return func(tree explore.Tree) error {
		if left := below(tree, path); len(left) > 0 {
			return fmt.Errorf("%+v is left", left)
		}
		return nil
	}
}

// deleteBelow is what an operator does who takes nodes for leftovers.
func deleteBelow(a *explore.Actor, path string) { deleteSome(a, path, 0) }

// deleteLast deletes the newest node.
func deleteLast(a *explore.Actor, path string) { deleteSome(a, path, 1) }

// deleteSome deletes the last nodes in the order of their numbers, or all if last
// is 0.
func deleteSome(a *explore.Actor, path string, last int) {
	names := childrenOf(a, path)
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(a[max(len(a)-10, 0):], b[max(len(b)-10, 0):]) })
	if last > 0 {
		names = names[max(len(names)-last, 0):]
	}
	for _, name := range names {
		_ = a.Call("delete", func(ctx context.Context) error {
			return a.Client().Delete(ctx, path+"/"+name, framework.AnyVersion)
		})
	}
}

// childrenOf returns the names of the children that an actor sees, or none.
func childrenOf(a *explore.Actor, path string) (names []string) {
	_ = a.Call("list", func(ctx context.Context) (err error) {
		names, _, err = a.Client().Children(ctx, path)
		return err
	})
	return names
}

// isEnd reports whether an error says that the client of an actor is closed, which
// is so.
func isEnd(a *explore.Actor, err error) bool {
	return a.Closed() && reason.Is(err, framework.ErrClosed)
}

// unlessLeft returns the error of a Shutdown at the end of a run, or nil if the node is
// left to the servers. Shutdown may say so for a while after the session has expired,
// because no server has told the client of that. All lost sessions have expired by
// then, so that the scenario must check that the node is gone.
func unlessLeft(err error) error {
	if reason.Is(err, framework.ErrLeftToServers) {
		return nil
	}
	return err
}

// inEnsemble is a scenario with three servers. Each of lags makes one server lag; the
// first is the leader's.
func inEnsemble(s explore.Scenario, lags ...time.Duration) explore.Scenario {
	return func(w *explore.World) {
		w.Ensemble(3)
		for i, lag := range lags {
			w.Lag(3-i, lag)
		}
		s(w)
	}
}

// searchAtEach searches a scenario three times in an ensemble of which some lag:
// the first actor is at another server each time. Those before it do nothing.
func searchAtEach(t *testing.T, s explore.Scenario, lags ...time.Duration) {
	for others := range 3 {
		t.Run(fmt.Sprint("behind ", others), func(t *testing.T) {
			explore.Search(t, inEnsemble(func(w *explore.World) {
				for i := range others {
					w.Actor(fmt.Sprint("other ", i), func(*explore.Actor) {})
				}
				s(w)
			}, lags...), brief())
		})
	}
}

// trouble is what an actor has in the natural course. The search then begins with
// what follows from it.
type trouble func(a *explore.Actor)

// startsWith lets the first actor begin with a trouble.
func startsWith(first trouble, s explore.Scenario) explore.Scenario {
	return func(w *explore.World) {
		w.Begin(first)
		s(w)
	}
}

// meets is a trouble with the next request of that kind.
func meets(op zktest.Op, fault zktest.Action) trouble {
	return func(a *explore.Actor) { a.Meets(op, fault) }
}

// late is a trouble with the next request of that kind. It is carried out when
// its client has another session, and may have made it again.
func late(op zktest.Op) trouble {
	return replaced(op, zkinside.HoldRequest(time.Second).(zktest.Action))
}

// unheard is a trouble with the next request of that kind. It is carried out, and
// its client hears nothing of that and has another session.
func unheard(op zktest.Op) trouble { return replaced(op, zktest.DropReply()) }

// expiresAt is a trouble with the next request of that kind: the session expires when
// it comes.
func expiresAt(op zktest.Op) trouble {
	return func(a *explore.Actor) { a.Meets(op, zktest.Call(func(zktest.Request) { a.Expire() })) }
}

func replaced(op zktest.Op, fault zktest.Action) trouble {
	return func(a *explore.Actor) {
		replace := zktest.Call(func(zktest.Request) { a.ReplaceSession() })
		a.Meets(op, zktest.All(replace, fault))
	}
}

// both is two troubles, the first one first.
func both(first, second trouble) trouble {
	return func(a *explore.Actor) {
		first(a)
		second(a)
	}
}

// beside is a trouble that an actor has some time after it has begun to play.
func (own trouble) beside(play func(*explore.Actor), after time.Duration) func(*explore.Actor) {
	return func(a *explore.Actor) {
		var troubled sync.WaitGroup
		defer troubled.Wait()
		troubled.Go(func() {
			time.Sleep(after)
			own(a)
		})
		play(a)
	}
}

// searchSessionEnds searches a scenario with each of the troubles that end a session.
func searchSessionEnds(t *testing.T, limits explore.Limits, of func(own trouble) explore.Scenario) {
	for _, c := range []struct {
		name string
		own  trouble
	}{{"lost", loss}, {"given up", givenUp}, {"expired", expired}} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, of(c.own), limits) })
	}
}

// The kinds of trouble.
var (
	none    trouble = func(*explore.Actor) {}
	cut     trouble = (*explore.Actor).Cut
	loss    trouble = (*explore.Actor).LoseSession
	expired trouble = (*explore.Actor).Expire
	givenUp trouble = (*explore.Actor).GiveUpSession
	closed  trouble = (*explore.Actor).Close
)

// moved is a trouble in which a client has another session at once, and the
// servers still have the old one.
func moved(a *explore.Actor) {
	a.ReplaceSession()
	a.Cut()
}
