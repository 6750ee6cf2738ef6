package scenarios

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/testing/zktest"
)

// writeTroubles are what a client may meet with a write.
var writeTroubles = []struct {
	name string
	with func(op zktest.Op) trouble
}{
	{"in peace", func(zktest.Op) trouble { return none }},
	{"lost", func(op zktest.Op) trouble { return meets(op, zktest.DropRequest()) }},
	{"lost reply", func(op zktest.Op) trouble { return meets(op, zktest.DropReply()) }},
	{"lost reply and session", unheard},
	{"late", late},
	{"late and lost reply", func(op zktest.Op) trouble { return both(late(op), meets(op, zktest.DropReply())) }},
}

// searchWrites plays a scenario in each of these troubles, alone and beside an
// operator who does that.
func searchWrites(t *testing.T, op zktest.Op, s explore.Scenario, operator func(*explore.Actor)) {
	beside := func(w *explore.World) {
		s(w)
		w.Actor("O", func(a *explore.Actor) {
			time.Sleep(5 * time.Millisecond)
			operator(a)
		})
	}
	for _, c := range writeTroubles {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, startsWith(c.with(op), s), brief()) })
		t.Run(c.name+", operator", func(t *testing.T) { explore.Search(t, startsWith(c.with(op), beside), brief()) })
	}
}

// exchange takes a node away, and makes one in its place.
func exchange(path, data string, opts ...framework.CreateOption) func(*explore.Actor) {
	return func(a *explore.Actor) {
		_ = a.Call("delete", func(ctx context.Context) error {
			return a.Client().Delete(ctx, path, framework.AnyVersion, framework.WithMissingOK())
		})
		_ = a.Call("make anew", func(ctx context.Context) error {
			_, err := a.Client().Create(ctx, path, []byte(data), opts...)
			return err
		})
	}
}

// discard deletes a node, now or later.
func discard(a *explore.Actor, path string) {
	_ = a.Client().Delete(context.Background(), path, framework.AnyVersion, framework.WithGuarantee())
}

// A client reads a node and writes it over its version. An operator makes the node
// anew, with the same version, and a write of a session that is over may come late
// to that one as well. If the write is refused, somebody else has written.
func TestSetOfAClient(t *testing.T) {
	s := func(w *explore.World) {
		w.Node("/n", "old")
		p := newPast(w)
		w.Actor("A", func(a *explore.Actor) {
			stat, ended, session := &zk.Stat{}, false, a.Client().SessionID()
			w.AtEnd(func(tree explore.Tree) error {
				if a.Client().SessionID() != session {
					return nil
				}
				return p.isOnce("new")
			})
			if a.Call("read", func(ctx context.Context) error {
				_, _, err := a.Client().Get(ctx, "/n")
				return err
			}) != nil {
				return
			}
			err := a.Call("set", func(ctx context.Context) (err error) {
				stat, err = a.Client().Set(ctx, "/n", []byte("new"), 0)
				ended = ctx.Err() != nil
				return err
			})
			if err != nil {
				stat = &zk.Stat{}
			}
			p.told(a, "new", "/n", stat.Mzxid, err)
			if err != nil && !ended && !a.Closed() && !reason.Is(err, framework.ErrOutcomeUnknown) {
				w.AtEnd(p.isChanged("/n", "old"))
			}
		})
	}
	searchWrites(t, zktest.OpSetData, s, exchange("/n", "old"))
}

// A client deletes a node over its version. An operator writes it.
func TestDeleteOfAClient(t *testing.T) {
	s := func(w *explore.World) {
		w.Node("/n", "old")
		w.Actor("A", func(a *explore.Actor) {
			err := a.Call("delete", func(ctx context.Context) error { return a.Client().Delete(ctx, "/n", 0) })
			w.AtEnd(func(tree explore.Tree) error {
				_, there := tree["/n"]
				if err == nil && there || !there && err != nil && !reason.Is(err, framework.ErrOutcomeUnknown) {
					return fmt.Errorf("the node is there: %v, and its deletion was told with %w", there, err)
				}
				return nil
			})
		})
	}
	searchWrites(t, zktest.OpDelete, s, func(a *explore.Actor) {
		_ = a.Call("write", func(ctx context.Context) error {
			_, err := a.Client().Set(ctx, "/n", []byte("new"), framework.AnyVersion)
			return err
		})
	})
}

// A client makes a protected node that outlives its session. There is one then,
// and none if the caller has an error.
func TestProtectedNodeOfAClient(t *testing.T) {
	searchWrites(t, zktest.OpCreate, protectedNode, func(a *explore.Actor) { deleteLast(a, "/p") })
}

func TestProtectedNodeWhoseLeaderLags(t *testing.T) {
	explore.Search(t, inEnsemble(startsWith(late(zktest.OpCreate), protectedNode), time.Second), brief())
}

func protectedNode(w *explore.World) {
	w.Node("/p", "")
	p := newPast(w)
	w.Actor("A", func(a *explore.Actor) {
		var made framework.Created
		err := a.Call("make", func(ctx context.Context) (err error) {
			made, err = a.Client().Create(ctx, "/p/n-", []byte("new"), framework.WithProtection(), framework.WithMode(framework.PersistentSequential))
			return err
		})
		if err == nil {
			p.told(a, "new", made.Path, made.Czxid, err)
		}
		left := nodesLeft(a, made.Path)
		w.AtEnd(left)
	})
}

// nodesLeft is a check for the end: nothing is below /p but that node. A client
// that was closed may leave some.
func nodesLeft(a *explore.Actor, paths ...string) func(explore.Tree) error {
	return func(tree explore.Tree) error {
		for _, n := range below(tree, "/p") {
			mine := false
			for _, path := range paths {
				mine = mine || n.Path == path
			}
			if !mine && !a.Closed() {
				return fmt.Errorf("%s is left", n.Path)
			}
		}
		return nil
	}
}

// A client makes an ephemeral node and two protected ones, and writes a node over
// its version, all in one transaction.
func TestTransactionOfAClient(t *testing.T) {
	s := func(w *explore.World) {
		w.Node("/p", "")
		w.Node("/n", "old")
		p := newPast(w)
		data := []string{"ephemeral", "the first", "the second", "new"}
		p.once("ephemeral")
		p.once("new")
		protected := []framework.CreateOption{framework.WithProtection(), framework.WithMode(framework.PersistentSequential)}
		p.transacts(data, "/e",
			framework.CreateOp("/e", []byte(data[0]), framework.WithMode(framework.Ephemeral)),
			framework.CreateOp("/p/n-", []byte(data[1]), protected...),
			framework.CreateOp("/p/n-", []byte(data[2]), protected...),
			framework.SetOp("/n", []byte(data[3]), 0))
	}
	searchWrites(t, zktest.OpMulti, s, func(a *explore.Actor) { deleteLast(a, "/p") })
}

// transacts has an actor that reads a node, and makes one transaction, each operation
// of which writes its data. It deletes its ephemeral node in the end.
func (p *past) transacts(data []string, ephemeral string, ops ...framework.TxnOp) {
	p.world.Actor("A", func(a *explore.Actor) {
		_ = a.Call("read", func(ctx context.Context) error {
			_, _, err := a.Client().Get(ctx, "/n")
			return err
		})
		var results []framework.TxnResult
		err := a.Call("transaction", func(ctx context.Context) (err error) {
			results, err = a.Client().Transaction(ctx, ops...)
			return err
		})
		if err != nil {
			results = make([]framework.TxnResult, len(ops))
		}
		var paths []string
		for i, r := range results {
			n, is := p.told(a, data[i], r.Path, r.Zxid, err)
			if owner := n.Stat.EphemeralOwner; is && owner != 0 && owner != r.Session.ID() {
				p.world.Fail("%s was told a session that is not the owner of %v", a.Name(), n)
			}
			paths = append(paths, r.Path)
		}
		p.world.AtEnd(nodesLeft(a, paths...))
		if ephemeral != "" {
			discard(a, ephemeral)
		}
	})
}
