package scenarios

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// kept is a persistent node, and what is known of it.
type kept struct {
	actor      *explore.Actor
	node       *nodes.PersistentNode
	changes    []nodes.Change
	before     tenants        // of its path, with its own nodes
	sessions   map[int64]bool // of the actor
	deletable  bool           // somebody may have deleted it, of which it has not heard
	persistent bool           // the node is not ephemeral
	foreign    int            // how often somebody else may have written to it
}

func keep(a *explore.Actor, before tenants, path, data string, opts ...nodes.Option) (*kept, error) {
	node, err := nodes.NewPersistentNode(a.Client(), path, []byte(data), opts...)
	if err != nil {
		return nil, err
	}
	return watchNode(a, before, node), nil
}

// watchNode follows what a node tells.
func watchNode(a *explore.Actor, before tenants, node *nodes.PersistentNode) *kept {
	k := &kept{actor: a, node: node, before: before, sessions: map[int64]bool{}}
	go func() {
		for change := range node.Changes(context.Background()) {
			k.changes = append(k.changes, change)
		}
	}()
	return k
}

// refuse fails the run, unless a node was refused because the client is closed.
func refuse(w *explore.World, a *explore.Actor, err error) {
	if !isEnd(a, err) {
		w.Fail("%v", err)
	}
}

// check compares with the tree what the node says of itself, after each move.
func (k *kept) check(tree explore.Tree) error {
	if id := k.actor.Client().SessionID(); id != 0 {
		k.sessions[id] = true
	}
	r, ok := k.node.Registration()
	if !ok || r.Session.Context().Err() != nil || k.actor.Closed() {
		return nil
	}
	if k.deletable || k.mayBeHit(r) || k.actor.HasExpired(r.Session.ID()) {
		return nil // it cannot know
	}
	n := tree[r.Path]
	if owner := n.Stat.EphemeralOwner; n.Stat.Czxid != r.Czxid || owner != 0 && owner != r.Session.ID() {
		return fmt.Errorf("the node of %s says that it is there, and %+v is", k.actor.Name(), n.Stat)
	}
	return nil
}

// end compares with the tree what the node has told, when all is quiet.
func (k *kept) end(tree explore.Tree, data string) error {
	if k.actor.Closed() {
		return nil
	}
	r, ok := k.node.Registration()
	n := tree[r.Path]
	last := k.changes[len(k.changes)-1]
	switch {
	case !ok || n.Stat.Czxid != r.Czxid || string(n.Data) != data:
		return fmt.Errorf("%s should have a node with %q: %v, %+v %q", k.actor.Name(), data, ok, n.Stat, n.Data)
	case last.State != nodes.Registered && last.State != nodes.Overwritten || last.Czxid != r.Czxid:
		return fmt.Errorf("%s has reported %+v last, and has %+v", k.actor.Name(), last, r)
	}
	overwritten := 0
	for _, c := range k.changes {
		if c.State == nodes.Lost && k.persistent && reason.Is(c.Err, framework.ErrSessionLost) {
			return fmt.Errorf("%s believes that its node has gone with a session: %+v", k.actor.Name(), c)
		}
		if c.State == nodes.Overwritten {
			overwritten++
		}
	}
	if overwritten > k.foreign {
		return fmt.Errorf("%s has told %d times that it was overwritten, and was %d times", k.actor.Name(), overwritten, k.foreign)
	}
	for i, c := range k.changes[1:] {
		if before := k.changes[i]; c.State == before.State && c.Czxid == before.Czxid && c.State != nodes.Overwritten && c.State != nodes.Conflict {
			return fmt.Errorf("%s has told twice of %+v", k.actor.Name(), c)
		}
	}
	return nil
}

// onePath has two actors who want a node with the same path. The second waits until the
// first has shut down, or meets trouble.
func onePath(first trouble) explore.Scenario { return onePathAfter(none, first) }

// onePathAfter has a trouble before the first one has its node, and another one
// behind that.
func onePathAfter(before, first trouble) explore.Scenario { return onePathOf(true, before, first) }

// onePathOf is onePathAfter in which each writes its node, or nobody does.
func onePathOf(sets bool, early, first trouble) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/workers", "")
		registered := w.Section("the node", 1)
		var all []*kept
		before := tenants{}
		seen := map[string]bool{} // data that the node has had
		w.Always(func(tree explore.Tree) error {
			before.see(tree, "/workers")
			seen[string(tree["/workers/w"].Data)] = true
			for _, k := range all {
				if err := k.check(tree); err != nil {
					return err
				}
			}
			return nil
		})
		for i, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				if i == 0 {
					early(a)
				}
				k, err := keep(a, before, "/workers/w", name)
				if err != nil {
					refuse(w, a, err)
					return
				}
				all = append(all, k)
				var r nodes.Registration
				if a.Call("wait", func(ctx context.Context) (err error) {
					r, err = k.node.WaitRegistered(ctx)
					return err
				}) == nil {
					leave := registered.Enter(a, r.Session.Context(), r.Czxid)
					if i == 0 {
						first(a)
					} else if !sets {
						time.Sleep(3500 * time.Millisecond)
					}
					if sets {
						err := a.Call("set", func(ctx context.Context) error {
							return k.node.Set(ctx, []byte(name+" sets"))
						})
						if err == nil && !seen[name+" sets"] {
							w.Fail("%s was told that its data is there, which is not so", name)
						}
					}
					leave()
				}
				if a.Call("shut down", k.node.Shutdown) == nil {
					<-k.node.Done()
				}
			})
		}
		w.AtEnd(nothingBelow("/workers"))
	}
}

func TestPersistentNodesOfOnePath(t *testing.T) { explore.Search(t, onePath(none), quick()) }

func TestPersistentNodesOfOnePathAfterAnExpiry(t *testing.T) {
	explore.Search(t, onePath(expired), quick())
}

func TestPersistentNodesOfOnePathInAnEnsemble(t *testing.T) {
	explore.Search(t, inEnsemble(onePath(none)), quick())
}

// A leader that lags does not know what the client has done before.
func TestPersistentNodesOfOnePathWhoseLeaderLags(t *testing.T) {
	searchAtEach(t, onePathAfter(meets(zktest.OpCreate, zktest.DropReply()), meets(zktest.OpDelete, zktest.DropReply())), time.Second)
}

// The deletion of the first one's node arrives when the second one may have its
// own. That has another version, as long as nobody writes it.
func TestPersistentNodesOfOnePathWithALateDelete(t *testing.T) {
	explore.Search(t, onePathOf(false, none, late(zktest.OpDelete)), quick())
}

// Of two who replace each other's node, one ends, and one has the node.
func TestPersistentNodesThatReplace(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/workers", "")
		w.Stays("/workers")
		var all []*kept
		for i, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				time.Sleep(time.Duration(i) * time.Second)
				k, err := keep(a, nil, "/workers/w", name, nodes.WithConflictPolicy(nodes.Replace))
				if err != nil {
					refuse(w, a, err)
					return
				}
				all = append(all, k)
				_ = a.Call("wait", func(ctx context.Context) error {
					_, err := k.node.WaitRegistered(ctx)
					return err
				})
			})
		}
		w.AtEnd(func(tree explore.Tree) error {
			ended, closed := 0, 0
			for i, k := range all {
				switch err := k.node.Err(); {
				case isEnd(k.actor, err):
					closed++
				case err == nil:
					if err := k.end(tree, names(2)[i]); err != nil {
						return err
					}
				case reason.Is(err, nodes.ErrConflict):
					ended++
				default:
					return err
				}
				_ = k.node.Shutdown(context.Background())
			}
			if ended == 0 && closed == 0 && len(all) == 2 || ended > 1 {
				return fmt.Errorf("%d of two have ended", ended)
			}
			return nil
		})
		w.AtEnd(nothingBelow("/workers"))
	}, quick())
}

// disturbedNode has an actor with a node that another actor deletes and writes to.
// In the end the node is there, with the last data. Then it is shut down.
func disturbedNode(own trouble, opts ...nodes.Option) explore.Scenario {
	return disturbedNodeAfter(none, own, opts...)
}

// disturbedNodeAfter has a trouble before the node is made, too.
func disturbedNodeAfter(before, own trouble, opts ...nodes.Option) explore.Scenario {
	return disturbed(false, before, own, opts...)
}

func disturbed(persistent bool, before, own trouble, opts ...nodes.Option) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/workers", "")
		w.Stays("/workers")
		var k *kept
		w.Always(func(tree explore.Tree) error {
			if k == nil {
				return nil
			}
			return k.check(tree)
		})
		last := "one"
		w.Actor("A", func(a *explore.Actor) {
			var err error
			before(a)
			if k, err = keep(a, nil, "/workers/w", last, opts...); err != nil {
				refuse(w, a, err)
				return
			}
			k.persistent = persistent
			time.Sleep(time.Second)
			k.deletable = true
			time.Sleep(time.Second / 2)
			for _, last = range []string{"two", "three"} {
				own(a)
				_ = a.Call("set "+last, func(ctx context.Context) error { return k.node.Set(ctx, []byte(last)) })
			}
		})
		w.Actor("B", func(a *explore.Actor) {
			time.Sleep(time.Second + time.Millisecond)
			var names []string
			_ = a.Call("list", func(ctx context.Context) (err error) {
				names, _, err = a.Client().Children(ctx, "/workers")
				return err
			})
			const repeats = 5 // a client that has no answer writes again
			for _, name := range names {
				_ = a.Call("delete", func(ctx context.Context) error {
					return a.Client().Delete(ctx, "/workers/"+name, framework.AnyVersion)
				})
				if k != nil {
					k.foreign += repeats
				}
				_ = a.Call("write", func(ctx context.Context) error {
					_, err := a.Client().Set(ctx, "/workers/"+name, []byte("of somebody else"), framework.AnyVersion)
					return err
				})
			}
		})
		w.AtEnd(func(tree explore.Tree) error {
			err := k.end(tree, last)
			if err == nil && len(below(tree, "/workers")) != 1 && !k.actor.Closed() {
				err = fmt.Errorf("%d nodes are there", len(below(tree, "/workers")))
			}
			if k.actor.Closed() {
				return err
			}
			return errors.Join(err, unlessLeft(k.node.Shutdown(context.Background())))
		})
		w.AtEnd(func(tree explore.Tree) error {
			if k.actor.Closed() && persistent {
				return nil // a node that is not ephemeral stays
			}
			return nothingBelow("/workers")(tree)
		})
	}
}

func TestPersistentNodeThatIsDeleted(t *testing.T) { explore.Search(t, disturbedNode(none), quick()) }

func TestPersistentNodeThatIsLostAgainAndAgain(t *testing.T) {
	explore.Search(t, disturbedNode(expired), quick())
}

func TestSequentialPersistentNodeThatIsDeleted(t *testing.T) {
	explore.Search(t, disturbedNode(none, nodes.WithMode(framework.EphemeralSequential)), quick())
}

// The reply to the request that makes the node is lost, or comes late.
func TestSequentialPersistentNodeOfUnknownOutcome(t *testing.T) {
	explore.Search(t, disturbedNodeAfter(meets(zktest.OpCreate, zktest.DropReply()), none, nodes.WithMode(framework.EphemeralSequential)), quick())
}
