package grpcresolver_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// The policies of these tests: gRPC's table has no lock.
func init() {
	policies := map[string]discovery.Strategy{
		"turns": discovery.RoundRobin(), "keys": discovery.Rendezvous(), "idlest": discovery.PowerOfTwo(),
	}
	for name, s := range policies {
		if err := grpcresolver.RegisterBalancer(name, s); err != nil {
			panic(err)
		}
	}
	any := discovery.WithFailures(func(err error) bool { return err != nil })
	if err := grpcresolver.RegisterBalancer("strict", discovery.RoundRobin(), any); err != nil {
		panic(err)
	}
}

func withPolicy(name string) grpc.DialOption {
	return grpc.WithDefaultServiceConfig(fmt.Sprintf(`{"loadBalancingConfig": [{%q: {}}]}`, name))
}

// backend answers with its address, or with an error of a code. It counts calls.
type backend struct {
	address string
	code    atomic.Uint32
	calls   atomic.Int32
}

func (b *backend) answer() (string, error) {
	b.calls.Add(1)
	if code := codes.Code(b.code.Load()); code != codes.OK {
		return "", status.Error(code, "so it is")
	}
	return b.address, nil
}

// backends serves replicas a, b and so on, at the ports 1, 2 and so on.
func (n *network) backends(t *testing.T, w *world, count int) (all []*backend) {
	t.Helper()
	for i := range count {
		port := i + 1
		b := &backend{address: fmt.Sprint("10.0.0.7:", port)}
		n.serveWith(t, b.address, "orders", b.answer)
		w.put(t, replica(string(rune('a'+i)), port))
		all = append(all, b)
	}
	return all
}

// calls makes calls, and returns how many have failed.
func calls(t *testing.T, conn *grpc.ClientConn, count int) (failed int) {
	t.Helper()
	for range count {
		if _, err := ask(t.Context(), conn); err != nil {
			failed++
		}
	}
	return failed
}

func ready(conn *grpc.ClientConn) {
	conn.Connect()
	synctest.Wait()
}

// Who fails five calls in a row gets none for ten seconds, and then those that
// are its own.
func TestWhoFailsIsTakenOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		all := n.backends(t, w, 3)
		b, log := w.told(t)
		conn := dial(t, &n, b, orders, withPolicy("turns"))
		ready(conn)
		all[0].code.Store(uint32(codes.Internal))
		require.Equal(t, 5, calls(t, conn, 100), "the instance that fails is taken out")
		require.Equal(t, []string{"a for 10s: rpc error: code = Internal desc = so it is"}, log.all())
		all[0].code.Store(uint32(codes.OK))
		before := all[0].calls.Load()
		require.Zero(t, calls(t, conn, 30))
		require.Equal(t, before, all[0].calls.Load())
		time.Sleep(10 * time.Second)
		require.Zero(t, calls(t, conn, 30))
		require.Equal(t, before+10, all[0].calls.Load(), "it takes its turns again")
	})
}

// ejections is a hook that notes who is taken out.
type ejections struct {
	mu    sync.Mutex
	lines []string
}

var _ discovery.HookInstanceEjected = (*ejections)(nil)

func (e *ejections) InstanceEjected(ejected discovery.Ejection) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, fmt.Sprintf("%s for %v: %v", ejected.Instance.ID, ejected.For, ejected.Err))
}

func (e *ejections) all() []string {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lines
}

// told returns a builder, and who is taken out in its channels.
func (w *world) told(t *testing.T) (*grpcresolver.Builder, *ejections) {
	t.Helper()
	log := &ejections{}
	client, _ := w.Connect(t, framework.WithHooks(log))
	return grpcresolver.NewBuilder(client, grpcresolver.WithCodec("curator", discovery.SpringCodec())), log
}

// An instance without a connection is not picked. One that was taken out stays
// out behind that.
func TestWhoLosesItsConnectionStaysOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		n.backends(t, w, 2)
		bad := &backend{}
		bad.code.Store(uint32(codes.Unavailable))
		kill := n.serveWith(t, "10.0.0.7:3", "orders", bad.answer)
		w.put(t, replica("c", 3))
		conn := dial(t, &n, w.builder(), orders, withPolicy("turns"))
		ready(conn)
		require.Equal(t, 5, calls(t, conn, 60))
		kill()
		require.Len(t, everyone(t, conn), 2)
		n.serve(t, "10.0.0.7:3", "orders")
		time.Sleep(5 * time.Second)
		require.Len(t, everyone(t, conn), 2, "it was to be out for ten")
		time.Sleep(5 * time.Second)
		require.Len(t, everyone(t, conn), 3)
	})
}

// No more than half are out at a time.
func TestHalfStaysIn(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		all := n.backends(t, w, 4)
		conn := dial(t, &n, w.builder(), orders, withPolicy("turns"))
		ready(conn)
		for _, b := range all {
			b.code.Store(uint32(codes.Internal))
		}
		require.Equal(t, 200, calls(t, conn, 200))
		asked := 0
		for _, b := range all {
			before := b.calls.Load()
			require.Equal(t, 20, calls(t, conn, 20))
			if b.calls.Load() > before {
				asked++
			}
		}
		require.Equal(t, 2, asked)
	})
}

// What the caller does wrong says nothing of the instance, unless the user has
// it otherwise.
func TestCodesThatCount(t *testing.T) {
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		for _, policy := range []string{"turns", "strict"} {
			t.Run(fmt.Sprint(code, " ", policy), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					var n network
					all := n.backends(t, w, 2)
					conn := dial(t, &n, w.builder(), orders, withPolicy(policy))
					ready(conn)
					all[0].code.Store(uint32(code))
					failed := calls(t, conn, 40)
					if policy == "strict" || strings.Contains("Unknown DeadlineExceeded Unimplemented Internal Unavailable DataLoss", code.String()) {
						require.Equal(t, 5, failed)
					} else {
						require.Equal(t, 20, failed)
					}
				})
			})
		}
	}
}

// Calls with the same key go to the same instance, in each channel.
func TestKeysOfCalls(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		n.backends(t, w, 5)
		b := w.builder()
		one, other := dial(t, &n, b, orders, withPolicy("keys")), dial(t, &n, b, orders, withPolicy("keys"))
		ready(one)
		ready(other)
		seen := map[string]bool{}
		for i := range 50 {
			ctx := grpcresolver.WithKey(t.Context(), fmt.Sprint("customer ", i))
			first, err := ask(ctx, one)
			require.NoError(t, err)
			for _, conn := range []*grpc.ClientConn{one, other} {
				again, err := ask(ctx, conn)
				require.NoError(t, err)
				require.Equal(t, first, again)
			}
			seen[first] = true
		}
		require.Len(t, seen, 5)
	})
}

// The idlest of two is counted from the pick to the end of a call.
func TestCallsUnderWayCount(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		stuck := make(chan struct{})
		var held atomic.Int32
		n.serveWith(t, here, "orders", func() (string, error) {
			held.Add(1)
			<-stuck
			return here, nil
		})
		n.serve(t, there, "orders")
		w.put(t, replica("a", 1))
		w.put(t, replica("b", 2))
		conn := dial(t, &n, w.builder(), orders, withPolicy("idlest"))
		ready(conn)
		ended := make(chan error, 100)
		for range 100 {
			go func() {
				_, err := ask(t.Context(), conn)
				ended <- err
			}()
			synctest.Wait()
		}
		require.LessOrEqual(t, held.Load(), int32(2), "who is busy is not picked beside an idle one")
		close(stuck)
		for range 100 {
			require.NoError(t, <-ended)
		}
	})
}

// A policy has the words of gRPC when there is no instance, or no connection,
// and it follows the list.
func TestPolicyWithoutConnections(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		conn := dial(t, &n, w.builder(), orders, withPolicy("turns"))
		_, err := ask(t.Context(), conn)
		require.ErrorContains(t, err, "no instance is registered")
		w.put(t, replica("a", 1))
		synctest.Wait()
		_, err = ask(t.Context(), conn)
		require.ErrorContains(t, err, "connection refused")
		n.serve(t, here, "orders")
		time.Sleep(5 * time.Second)
		require.Len(t, connected(t, conn), 1)
		n.serve(t, there, "orders")
		w.put(t, replica("b", 2))
		synctest.Wait()
		require.Len(t, connected(t, conn), 2)
		w.remove(t, "a")
		outlastGrace()
		require.Equal(t, map[string]bool{there: true}, connected(t, conn))
	})
}

// Endpoints of another resolver are instances with their addresses for IDs.
func TestPolicyWithAnotherResolver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		all := n.backends(t, w, 3)
		other := manual.NewBuilderWithScheme("static")
		var s resolver.State
		for port := range 3 {
			s.Endpoints = append(s.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: fmt.Sprint("10.0.0.7:", port+1)}}})
		}
		s.Endpoints = append(s.Endpoints, resolver.Endpoint{}) // which is nobody
		other.InitialState(s)
		conn := dial(t, &n, w.builder(), "static:///orders", grpc.WithResolvers(other), withPolicy("turns"))
		ready(conn)
		all[1].code.Store(uint32(codes.Internal))
		require.Equal(t, 5, calls(t, conn, 100))
	})
}

func TestPoliciesThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, register := range map[string]func() error{
		"name":     func() error { return grpcresolver.RegisterBalancer("", discovery.Random()) },
		"strategy": func() error { return grpcresolver.RegisterBalancer("bad", discovery.Strategy{}) },
		"option": func() error {
			return grpcresolver.RegisterBalancer("bad", discovery.Random(), discovery.WithEjection(0, 0, 0))
		},
		"nil option": func() error { return grpcresolver.RegisterBalancer("bad", discovery.Random(), nil) },
	} {
		require.ErrorIs(t, register(), zk.ErrBadArguments, name)
	}
	require.Nil(t, balancer.Get("bad"))
}
