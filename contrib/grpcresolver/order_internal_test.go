package grpcresolver

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/resolver"

	"github.com/gocurator/curator/recipes/discovery"
)

// picking is gRPC's side of a balancer. A call comes with each new picker.
type picking struct {
	balancer.ClientConn
	t           *testing.T
	connections []*connection
	picked      string // the address of the last call, or why there is none
}

func (p *picking) NewSubConn(at []resolver.Address, opts balancer.NewSubConnOptions) (balancer.SubConn, error) {
	c := &connection{at: at[0].Addr, changed: opts.StateListener}
	p.connections = append(p.connections, c)
	return c, nil
}

func (p *picking) UpdateState(s balancer.State) {
	for range 4 {
		result, err := s.Picker.Pick(balancer.PickInfo{Ctx: p.t.Context()})
		if s.ConnectivityState != connectivity.Ready {
			p.picked = fmt.Sprint(err)
			return
		}
		if err != nil { // no end of the test here: gRPC holds a mutex
			p.t.Error("the call waits for another picker, which does not come:", err)
			return
		}
		p.picked = result.SubConn.(*connection).at
		result.Done(balancer.DoneInfo{BytesSent: true})
	}
}

// connection has no network: the test says what becomes of it.
type connection struct {
	balancer.SubConn
	at      string
	changed func(balancer.SubConnState)
	healthy func(balancer.SubConnState)
}

func (*connection) Connect()  {}
func (*connection) Shutdown() {}

func (c *connection) RegisterHealthListener(listener func(balancer.SubConnState)) {
	c.healthy = listener
}

func (c *connection) become(s connectivity.State) {
	c.changed(balancer.SubConnState{ConnectivityState: s})
	if s == connectivity.Ready {
		c.healthy(balancer.SubConnState{ConnectivityState: s})
	}
	synctest.Wait() // gRPC leaves the idle state on a goroutine of its own
}

// A call that comes the moment that gRPC has a new picker finds an instance of that
// picker. Otherwise it would wait until the next one, which may never come.
func TestCallWithANewPickerDoesNotWait(t *testing.T) {
	t.Parallel()
	for name, strategy := range map[string]discovery.Strategy{
		"round robin": discovery.RoundRobin(), "sticky": discovery.Sticky(discovery.Random()), "keys": discovery.Rendezvous(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cc := &picking{t: t}
				b := policy{"p", strategy, nil}.Build(cc, balancer.BuildOptions{})
				defer b.Close()
				list := func(ports ...int) {
					var s resolver.State
					for _, port := range ports {
						address := fmt.Sprint("10.0.0.7:", port)
						s.Endpoints = append(s.Endpoints, endpoint(address, &discovery.Entry{Instance: discovery.Instance{
							ID: fmt.Sprint("i", port), Address: "10.0.0.7", Port: port,
						}}))
					}
					require.NoError(t, b.UpdateClientConnState(balancer.ClientConnState{ResolverState: s}))
				}
				to := func(port int) *connection {
					for _, c := range cc.connections {
						if c.at == fmt.Sprint("10.0.0.7:", port) {
							return c
						}
					}
					require.FailNow(t, "nobody connects")
					return nil
				}
				list(1, 2)
				for port := range 2 {
					to(port + 1).become(connectivity.Connecting)
					to(port + 1).become(connectivity.Ready)
				}
				for range 3 {
					to(1).become(connectivity.Idle)
					require.Equal(t, "10.0.0.7:2", cc.picked)
					to(1).become(connectivity.Connecting)
					to(1).become(connectivity.Ready)
					to(2).become(connectivity.Idle)
					require.Equal(t, "10.0.0.7:1", cc.picked)
					to(2).become(connectivity.Connecting)
					to(2).become(connectivity.Ready)
				}
				list(1)
				require.Equal(t, "10.0.0.7:1", cc.picked)
				list(1, 3)
				to(3).become(connectivity.Connecting)
				to(3).become(connectivity.Ready)
				list(3)
				require.Equal(t, "10.0.0.7:3", cc.picked)
			})
		})
	}
}
