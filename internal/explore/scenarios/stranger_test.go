package scenarios

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// besideAStranger has an actor who wants a node that is not ephemeral, and shuts
// down before it knows that it has one. Somebody else makes the node with the same
// data: it is there before, or comes while the actor is in trouble.
func besideAStranger(isThere bool, before trouble, request zktest.Action) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/workers", "")
		if isThere {
			w.Node("/workers/w", "same")
		}
		var k *kept
		var first, theirs int64 // the node that was the first one, and theirs if nobody can take it for another
		var actor *explore.Actor
		had := false // it has said that the node is its own, or has written to it, and so taken it over
		w.Always(func(tree explore.Tree) error {
			n := tree["/workers/w"]
			if n.Path != "" && first == 0 {
				first = n.Stat.Czxid
				if k == nil && (isThere || actor != nil && !actor.Client().State().IsConnected()) {
					theirs = first
				}
			}
			had = had || n.Stat.Version > 0
			if k != nil {
				_, registered := k.node.Registration()
				had = had || registered
			}
			return nil
		})
		comes := make(chan struct{})
		w.Actor("A", func(a *explore.Actor) {
			actor = a
			if a.Call("look around", func(ctx context.Context) error { return a.Client().Sync(ctx, "/") }) != nil {
				close(comes)
				return // a client that has never had an answer knows less, as the documentation says
			}
			before(a)
			close(comes)
			if !isThere {
				time.Sleep(20 * time.Second) // until it has a connection again
			}
			a.Meets(zktest.OpCreate, request)
			var err error
			if k, err = keep(a, "/workers/w", "same", nodes.WithMode(framework.Persistent)); err != nil {
				refuse(w, a, err)
				return
			}
			a.Pause("thinks again")
			if a.Call("shut down", k.node.Shutdown) == nil {
				<-k.node.Done()
			}
		})
		if !isThere {
			w.Actor("B", func(b *explore.Actor) {
				<-comes
				time.Sleep(4 * time.Second)
				_ = b.Call("create", func(ctx context.Context) error {
					_, err := b.Client().Create(ctx, "/workers/w", []byte("same"))
					return err
				})
			})
		}
		w.AtEnd(func(tree explore.Tree) error {
			if n := tree["/workers/w"]; theirs != 0 && !had && n.Stat.Czxid != theirs {
				return fmt.Errorf("A has deleted the node of somebody else")
			}
			return nil
		})
	}
}

func TestPersistentNodeBesideAStrangers(t *testing.T) {
	for _, c := range []struct {
		name    string
		isThere bool
		before  trouble
		request zktest.Action
	}{
		{"that is there, reply lost", true, none, zktest.DropReply()},
		{"that is there, request lost", true, none, zktest.DropRequest()},
		{"that is there, request refused", true, none, zktest.Fail(zktest.ErrThrottled)},
		{"that comes during a loss", false, loss, zktest.DropReply()},
		{"that comes during an outage", false, givenUp, zktest.DropReply()},
	} {
		t.Run(c.name, func(t *testing.T) {
			explore.Search(t, besideAStranger(c.isThere, c.before, c.request), brief())
		})
	}
}
