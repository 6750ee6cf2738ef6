package scenarios

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/nodes"
)

// In the end, a follower of a group has seen the members that there are.
func TestGroup(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/group", "")
		following, stop := context.WithCancel(context.Background())
		var joined []*nodes.GroupMember
		members := map[string]*explore.Actor{} // by id
		var views [2]map[string]string         // id to payload, by the follower's changes
		var followers [2]*explore.Actor
		for i, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				group := nodes.NewGroup(a.Client(), "/group")
				views[i], followers[i] = map[string]string{}, a
				go func() {
					for view, err := range group.Changes(following) {
						if err != nil {
							return
						}
						apply(w, views[i], view)
					}
				}()
				join := func(id string) (m *nodes.GroupMember) {
					_ = a.Call("join as "+id, func(ctx context.Context) (err error) {
						m, err = group.Join(ctx, id, []byte("first"))
						return err
					})
					return m
				}
				if m := join(name + "1"); m != nil {
					members[m.ID()] = a
					joined = append(joined, m)
					_ = a.Call("update", func(ctx context.Context) error { return m.Update(ctx, []byte("second")) })
				}
				if m := join(name + "2"); m != nil {
					_ = a.Call("leave", m.Leave)
				}
			})
		}
		w.AtEnd(func(tree explore.Tree) error {
			there := map[string]string{}
			for _, n := range below(tree, "/group") {
				there[n.Path[len("/group/"):]] = string(n.Data)
			}
			maps.DeleteFunc(members, func(_ string, a *explore.Actor) bool { return a.Closed() })
			if len(there) != len(members) {
				return fmt.Errorf("there are %v, and %d members", there, len(members))
			}
			for i, v := range views {
				if !followers[i].Closed() && fmt.Sprint(v) != fmt.Sprint(there) {
					return fmt.Errorf("a follower has seen %v, and there are %v", v, there)
				}
			}
			stop() // now nothing may be left
			for _, m := range joined {
				_ = m.Leave(context.Background())
			}
			return nil
		})
	}, quick())
}

// apply applies the differences of a view, which must lead to its members.
func apply(w *explore.World, seen map[string]string, view nodes.View) {
	for _, m := range view.Left {
		if _, ok := seen[m.ID]; !ok {
			w.Fail("%s has left, and was not there", m.ID)
		}
		delete(seen, m.ID)
	}
	for _, m := range slices.Concat(view.Joined, view.Updated) {
		seen[m.ID] = string(m.Payload)
	}
	want := map[string]string{}
	for _, m := range view.Members {
		want[m.ID] = string(m.Payload)
	}
	if fmt.Sprint(want) != fmt.Sprint(seen) {
		w.Fail("the changes lead to %v, and the members are %v", seen, want)
	}
}
