package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/nodes"
)

// Who has joined is listed by its own group only while its node is one of the
// present session, and until it leaves. Its client may have another session while
// the servers still have the old one, and its node.
func TestGroupOfAMemberInTrouble(t *testing.T) {
	for name, own := range map[string]trouble{"moved": moved, "given up": givenUp, "lost": loss} {
		t.Run(name, func(t *testing.T) {
			explore.Search(t, func(w *explore.World) {
				w.Node("/group", "")
				for _, name := range names(2) {
					w.Actor(name, func(a *explore.Actor) {
						m := &membership{world: w, actor: a, group: nodes.NewGroup(a.Client(), "/group")}
						m.passes(own)
					})
				}
				w.AtEnd(nothingBelow("/group"))
			}, brief())
		})
	}
}

// membership is what an actor has in a group. Its id is the actor's name.
type membership struct {
	world *explore.World
	actor *explore.Actor
	group *nodes.Group
	left  bool // Leave has been called, or there was no Join
}

// passes joins, looks at the members every now and then, and leaves.
func (m *membership) passes(own trouble) {
	a := m.actor
	var member *nodes.GroupMember
	_ = a.Call("join", func(ctx context.Context) (err error) {
		member, err = m.group.Join(ctx, a.Name(), []byte("works"))
		return err
	})
	if member == nil {
		m.left = true
	}
	if a.Name() == "A" {
		own(a)
	}
	for range 4 {
		m.looks()
		time.Sleep(time.Second)
	}
	if member != nil {
		m.left = true
		_ = a.Call("leave", member.Leave)
	}
	m.looks()
}

func (m *membership) looks() {
	before, left := m.actor.Client().SessionID(), m.left
	var members []nodes.Member
	if m.actor.Call("list", func(ctx context.Context) (err error) {
		members, err = m.group.Members(ctx)
		return err
	}) != nil {
		return
	}
	for _, one := range members {
		mine := one.ID == m.actor.Name()
		switch {
		case one.Self != (mine && !left):
			m.world.Fail("%s sees %+v, and has left: %v", m.actor.Name(), one, left)
		case one.Self && before == m.actor.Client().SessionID() && one.Session != before:
			m.world.Fail("%s is in session %d, and sees itself as %+v", m.actor.Name(), before, one)
		}
	}
}
