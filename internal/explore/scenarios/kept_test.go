package scenarios

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/insider"
)

// A client closes, idle or while it makes a node. It leaves the node that is to be
// kept to the servers, and no other one.
func TestCloseOfAClientThatKeepsANode(t *testing.T) {
	for _, c := range []struct {
		name  string
		busy  bool
		first trouble
	}{
		{"idle", false, none},
		{"idle, cut", false, cut},
		{"busy", true, none},
		{"busy, cut", true, cut},
	} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, closing(c.busy, c.first), brief()) })
	}
}

func closing(busy bool, first trouble) explore.Scenario {
	return func(w *explore.World) {
		const timeout, moment = 6 * time.Second, 100 * time.Millisecond
		w.SessionTimeout(timeout)
		var closed time.Time
		w.Always(func(tree explore.Tree) error {
			since := time.Since(closed)
			if closed.IsZero() || w.Quiet() < since+timeout { // what went wrong before may have left something
				return nil
			}
			if _, there := tree["/kept"]; !there && since < timeout-moment {
				return fmt.Errorf("the node to keep is gone %v after the close", since)
			}
			for _, path := range []string{"/other", "/late"} {
				if _, there := tree[path]; there && since > moment {
					return errors.New(path + " is left")
				}
			}
			return nil
		})
		w.Actor("A", func(a *explore.Actor) {
			var made framework.Created
			makes := func(path string) error {
				return a.Call("make "+path, func(ctx context.Context) (err error) {
					made, err = a.Client().Create(ctx, path, nil, framework.WithMode(framework.Ephemeral))
					return err
				})
			}
			if makes("/other") != nil || makes("/kept") != nil {
				discard(a, "/other")
				discard(a, "/kept")
				return
			}
			session := a.Client().SessionID()
			insider.Of(a.Client()).KeepUntil(made.Session.ID(), made.Path, time.Now().Add(time.Hour))
			time.Sleep(timeout + timeout/4) // the last ping is a while ago
			var under sync.WaitGroup
			if busy {
				under.Go(func() { _ = makes("/late") })
			}
			a.Pause("closes")
			first(a)
			if !a.Closed() && a.Client().SessionID() == session && !a.HasExpired(session) {
				closed = time.Now()
			}
			a.Close()
			under.Wait()
			for range 20 {
				time.Sleep(500 * time.Millisecond)
				a.Pause("looks")
			}
		})
	}
}
