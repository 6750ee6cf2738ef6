package nodes

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/testing/zktest"
)

// The server answers in the very moment in which the session ends. The answer
// is handled after the loss was told, and says that the node is there.
func TestAnswerAfterTheEndOfTheSessionRegistersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		n := newNode(c, "/n", nil, newConfig(nil))
		n.life = follow.Life{Client: c, Run: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		require.NoError(t, n.life.Start())
		k := &keeper{PersistentNode: n, takeBack: func() {}}
		told := n.last

		k.registered(Registration{Path: "/n", Czxid: 1, Session: s})
		srv.Session(s.ID()).Expire()
		<-s.Context().Done()
		synctest.Wait()
		k.registered(Registration{Path: "/n", Czxid: 1, Session: s})

		_, there := n.Registration()
		require.False(t, there)
		n.end(ErrClosed)
		var states []State
		for change := range told.All(nil, n.Done()) {
			states = append(states, change.State)
		}
		require.Equal(t, []State{Registered, Lost, Ended}, states)
	})
}

// A node is found to be another one of ours before anybody has told of the loss
// of the first. The flight recorder counts from the second registration.
func TestRegisteredAnewIsRecordedAsOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		n := newNode(c, "/n", nil, newConfig(nil))
		n.record.beginLocked(n)
		require.True(t, n.noteRegistered(&Registration{Path: "/n", Czxid: 1, Session: s}, time.Time{}))
		time.Sleep(time.Hour)
		require.True(t, n.noteRegistered(&Registration{Path: "/n", Czxid: 2, Session: s}, time.Time{}))
		time.Sleep(time.Minute)
		now := n.recorded()
		require.EqualValues(t, 2, now.Czxid)
		require.Equal(t, time.Minute, time.Since(now.Changed))
		var told []string
		for _, e := range framework.Extend(c).Recorder().Events() {
			if e.Path == "/n" {
				told = append(told, e.Name)
			}
		}
		require.Equal(t, []string{"registered", "lost", "registered"}, told)
	})
}

// A session is over, and a node that may not be read is in the way in the next
// one. It is not ours, although nobody has noted yet that ours is gone.
func TestNodeOfALostSessionIsNotTheOneInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		k := newKeeper(newNode(c, "/n", nil, newConfig(nil)), nil)
		k.now = &Registration{Path: "/n", Czxid: 1, Session: s}
		require.False(t, k.isHidden(zk.ErrNoAuth), "its ACL keeps us out")
		srv.Session(s.ID()).Expire()
		<-s.Context().Done()
		require.True(t, k.isHidden(zk.ErrNoAuth))
	})
}
