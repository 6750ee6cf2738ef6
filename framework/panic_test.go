package framework_test

import (
	"context"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// balance counts operations that have begun and not ended.
type balance struct {
	open int
	last error
}

func (b *balance) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context {
	b.open++
	return ctx
}

func (b *balance) EndOperation(_ context.Context, end clienttrace.OperationEnd) {
	b.open--
	b.last = end.Err
}

// A create whose ACL provider panics gives the path of a plain ephemeral node
// back, and the hook hears of its end.
func TestPanicOfTheACLProvider(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		panics := true
		tracer := &balance{}
		c := newClient(t, srv, framework.WithHooks(tracer), framework.WithACLProvider(func(string) []zk.ACL {
			if panics {
				panic("no list")
			}
			return zk.WorldACL(zk.PermAll)
		}))
		create := func() (framework.Created, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			return c.Create(ctx, "/x", nil, framework.WithMode(framework.Ephemeral))
		}
		require.Panics(t, func() { create() })
		require.Zero(t, tracer.open)
		require.ErrorContains(t, tracer.last, "create /x: panicked")
		panics = false
		_, err := create()
		require.NoError(t, err)
	})
}

// A guaranteed delete whose retry policy panics is carried out nevertheless.
func TestPanicOfTheRetryPolicy(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		panics := false
		c := newClient(t, srv, framework.WithRetry(func() backoff.BackOff {
			if panics {
				panic("no schedule")
			}
			return backoff.NewConstantBackOff(time.Second)
		}))
		require.NoError(t, c.WaitConnected(t.Context()))
		require.NoError(t, srv.Create("/x", nil))
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DropRequest()})
		panics = true
		require.Panics(t, func() { c.Delete(t.Context(), "/x", framework.AnyVersion, framework.WithGuarantee()) })
		time.Sleep(time.Minute)
		_, there := srv.Node("/x")
		require.False(t, there)
	})
}

// tracerThatPanics panics at the end of operations of one name.
type tracerThatPanics struct {
	op string
}

func (p *tracerThatPanics) EndOperation(_ context.Context, end clienttrace.OperationEnd) {
	if end.Name == p.op {
		panic("no span")
	}
}

// The path may be another's by the time at which the client would delete it
// once more.
func TestGuaranteedDeleteThatIsDoneWhenTheTracerPanicsIsNotRepeated(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithHooks(&tracerThatPanics{op: "delete"}))
		mustCreate(t, c, "/x", "")
		require.Panics(t, func() { c.Delete(t.Context(), "/x", framework.AnyVersion, framework.WithGuarantee()) })
		require.NoError(t, srv.Create("/x", nil))
		time.Sleep(time.Minute)
		_, there := srv.Node("/x")
		require.True(t, there)
	})
}

// A dialer or a function of WithServers that ends its goroutine, as a test's
// FailNow does, has failed. The client goes on.
func TestDialerAndServersFuncThatEndTheirGoroutineHaveFailed(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		dials, questions := 0, 0
		c := newClient(t, srv,
			framework.WithServers(func(context.Context) ([]string, error) {
				if questions++; questions == 1 {
					runtime.Goexit()
				}
				return []string{srv.Addr()}, nil
			}),
			framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				if dials++; dials == 1 {
					runtime.Goexit()
				}
				return srv.Dialer()(ctx, network, address)
			}))
		require.NoError(t, c.WaitConnected(within(t, time.Minute)))
		require.Equal(t, []int{2, 2}, []int{dials, questions})
	})
}

// A dialer that has neither a connection nor an error has failed, too: at first,
// when the session is to lose, and when Close ends it.
func TestDialerWithoutAConnectionHasFailed(t *testing.T) {
	for name, none := range map[string]net.Conn{"nil": nil, "nil pointer": (*net.TCPConn)(nil)} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			var broken atomic.Bool
			broken.Store(true)
			c := newClient(t, srv, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				if broken.Load() {
					return none, nil
				}
				return srv.Dialer()(ctx, network, address)
			}))
			err := c.WaitConnected(within(t, 3*time.Second))
			require.ErrorIs(t, err, framework.ErrNotConnected, name)
			require.ErrorContains(t, err, "neither a connection nor an error", name)
			broken.Store(false)
			require.NoError(t, c.WaitConnected(within(t, time.Minute)), name)
			broken.Store(true)
			srv.CutAll()
			time.Sleep(time.Second)
			require.Equal(t, state.Suspended, c.State(), name)
			require.NoError(t, c.Close())
		})
	}
}

// tunnel is a connection without deadlines, as some tunnels have.
type tunnel struct{ net.Conn }

func (tunnel) SetReadDeadline(time.Time) error { return os.ErrNoDeadline }

// A server that is silent would not be noticed.
func TestDialerWhoseConnectionTakesNoDeadlineHasFailed(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		srv.Inject(zktest.Rule{Op: zktest.OpConnect, Do: zktest.Blackhole()})
		c := newClient(t, srv, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			nc, err := srv.Dialer()(ctx, network, address)
			return tunnel{nc}, err
		}))
		err := c.WaitConnected(within(t, time.Minute))
		require.ErrorContains(t, err, "takes no read deadline")
		require.ErrorIs(t, err, os.ErrNoDeadline)
		synctest.Wait()
		require.Zero(t, srv.Connections())
	})
}

// Close dials when there is no connection. A dialer that panics then leaves
// nothing of the client.
func TestPanicOfTheDialerInCloseLeavesNothingBehind(t *testing.T) {
	for way, end := range waysOfNoReturn {
		t.Run(way, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				var closing atomic.Bool
				c := newClient(t, srv, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
					if closing.Load() {
						end()
					}
					return srv.Dialer()(ctx, network, address)
				}))
				require.NoError(t, c.WaitConnected(t.Context()))
				srv.RefuseConnections(true)
				srv.CutAll()
				synctest.Wait()
				closing.Store(true)
				require.Equal(t, way != "panic", returns(func() { c.Close() }))
				require.NoError(t, c.Close())
			})
		})
	}
}

// panicking is a hook that panics in one of its methods.
type panicking struct{ start, end bool }

func (p panicking) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context {
	if p.start {
		panic("no start")
	}
	return ctx
}

func (p panicking) EndOperation(context.Context, clienttrace.OperationEnd) {
	if p.end {
		panic("no end")
	}
}

// A hook that panics takes no news from the other ones: each that was told of
// the beginning of an operation is told of its end, and no other one.
func TestPanicOfAHookIsNoSecretToTheOthers(t *testing.T) {
	for name, bad := range map[string]panicking{"at the start": {start: true}, "at the end": {end: true}} {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				before, after := &balance{}, &balance{}
				c := newClient(t, srv, framework.WithHooks(before, bad, after))
				require.Panics(t, func() { c.Sync(t.Context(), "/") })
				require.Zero(t, before.open)
				require.Zero(t, after.open)
				require.Equal(t, bad.start, before.last != nil)
				require.Nil(t, after.last)
			})
		})
	}
}
