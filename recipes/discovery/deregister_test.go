package discovery_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

// A Deregister is cancelled while the server is slow to delete the node. Then the Registrar
// registers another instance, and the first one is deregistered again.
//
// Promise: A second Deregister waits until the node is deleted, whatever was registered meanwhile.
func TestSecondDeregisterWaitsForTheNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		r := discovery.NewRegistrar(c, base, plain{})
		require.NoError(t, r.Register(w.Patience(t), replica("a", 1)))
		synctest.Wait()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Path: base + "/orders/a", Do: zktest.DelayRequest(2 * time.Second)})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, r.Deregister(ctx, "orders", "a"), context.Canceled)
		synctest.Wait() // until the delete is sent
		registered := make(chan error, 1)
		go func() { registered <- r.Register(w.Patience(t), replica("b", 1)) }()
		synctest.Wait()
		require.NoError(t, r.Deregister(w.Patience(t), "orders", "a"))
		require.NotContains(t, w.Fake.Children(base+"/orders"), "a")
		require.NoError(t, <-registered)
	})
}

// A server stalls with the create of a permanent instance until after the instance is
// deregistered. The client has lost the session of the create meanwhile.
//
// Promise: Deregister returns an error if a server may still create the node of a permanent instance.
func TestDeregisterBeforeALateCreate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const session = 40 * time.Second
		require.NoError(t, w.Fake.Create(base+"/orders", nil))
		c, network := w.Connect(t, framework.WithSessionTimeout(session), framework.WithSafetyMargin(0.5))
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		lost, err := c.Session(w.Patience(t))
		require.NoError(t, err)
		stalls := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: lost.ID(), Do: zktest.All(
			zkinside.HoldRequest(session*3/4).(zktest.Action), zktest.Call(func(zktest.Request) { network.Refuse(true) }))})
		r := discovery.NewRegistrar(c, base, plain{})
		registered := make(chan error, 1)
		go func() { registered <- r.Register(w.Patience(t), permanent(1)) }()
		<-stalls.Done()
		<-lost.Context().Done()
		network.Refuse(false)
		require.NoError(t, <-registered)
		require.ErrorIs(t, r.Deregister(w.Patience(t), "orders", "a"), framework.ErrOutcomeUnknown)
		require.Empty(t, w.Fake.Children(base+"/orders"))
		time.Sleep(session)
		require.Equal(t, []string{"a"}, w.Fake.Children(base+"/orders"))
	})
}
