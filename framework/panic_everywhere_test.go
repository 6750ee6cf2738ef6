package framework_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest"
)

// bomb is set off by one of the calls of the user's code.
type bomb struct {
	left int // calls until then; none if it is not positive
	end  func()
}

func (b *bomb) call() {
	if b.left--; b.left == 0 {
		b.end()
	}
}

// Ways for the user's code not to return. The second is that of a test's
// FailNow.
var waysOfNoReturn = map[string]func(){
	"panic":  func() { panic("no return") },
	"goexit": runtime.Goexit,
}

// functionsOfTheUser are the options with functions that an operation calls on
// its caller's goroutine.
var functionsOfTheUser = map[string]func(b *bomb) framework.Option{
	"tracer": func(b *bomb) framework.Option { return framework.WithHooks(bombTracer{bomb: b}) },
	"ACL provider": func(b *bomb) framework.Option {
		return framework.WithACLProvider(func(string) []zk.ACL {
			b.call()
			return zk.WorldACL(zk.PermAll)
		})
	},
}

type bombTracer struct {
	*bomb
}

func (b bombTracer) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context {
	b.call()
	return ctx
}

func (b bombTracer) EndOperation(context.Context, clienttrace.OperationEnd) { b.call() }

// Each operation is made with each function of the user's, which does not
// return from its first call, then from its second, and so on, with and without
// a reply that was lost before.
//
// Promise: A protected create that panics leaves no node.
// Promise: A read with a watch that panics leaves no watch.
func TestCallThatDoesNotReturnLeavesNothingBehind(t *testing.T) {
	for op := range operationsWithReservations(nil) {
		for function := range functionsOfTheUser {
			for way := range waysOfNoReturn {
				for _, lost := range []bool{false, true} {
					if !thorough.Picked(4, op, function, way, lost) {
						continue
					}
					t.Run(fmt.Sprintf("%s, %s, %s, reply lost %v", op, function, way, lost), func(t *testing.T) {
						for n, hit := 1, true; hit; n++ {
							serverOnly(t, func(t *testing.T, srv *zktest.Server) {
								hit = doesNotReturn(t, srv, op, functionsOfTheUser[function], waysOfNoReturn[way], lost, n)
							})
						}
					})
				}
			}
		}
	}
}

func operationsWithReservations(c *framework.Client) map[string]func(context.Context, string) error {
	all := maps.Clone(everyOperation(c))
	all["transaction ephemeral"] = func(ctx context.Context, path string) error {
		_, err := c.Transaction(ctx, framework.CreateOp(path+"/new", nil, framework.WithMode(framework.Ephemeral)))
		return err
	}
	all["create with siblings"] = func(ctx context.Context, path string) error {
		_, err := c.Create(ctx, path+"/new-", nil, framework.WithProtection(), framework.WithSiblings())
		return err
	}
	all["transaction protected"] = func(ctx context.Context, path string) error {
		_, err := c.Transaction(ctx, protectedOps(path+"/new-", 2)...)
		return err
	}
	return all
}

// doesNotReturn makes an operation in which the n-th call of a function of the
// user's does not return. It reports whether there were so many.
func doesNotReturn(
	t *testing.T, srv *zktest.Server, op string,
	function func(*bomb) framework.Option, end func(), lost bool, n int,
) (hit bool) {
	b := &bomb{}
	c := newClient(t, srv, function(b))
	mustCreate(t, c, "/n", "")
	watches := len(srv.Watches())
	rule := zktest.Rule{Do: zktest.DropReply()}
	if !lost {
		rule.Do = zktest.DelayReply(0)
	}
	fault := srv.Inject(rule)
	b.left, b.end = n, func() {
		hit = true
		end()
	}
	returned := returns(func() { operationsWithReservations(c)[op](t.Context(), "/n") })
	require.Equal(t, hit, !returned)
	b.left = 0
	time.Sleep(time.Minute)
	synctest.Wait()
	require.Len(t, srv.Watches(), watches)
	require.Zero(t, insider.Of(c).Watches())
	for _, name := range srv.Children("/n") {
		require.False(t, hit && strings.HasPrefix(name, "_c_"), "a protected node is left")
	}
	fault.Remove()
	renew(t, srv)
	require.NoError(t, operationsWithReservations(c)[op](within(t, time.Hour), "/n"))
	return hit
}

// A context of the user's own may panic whenever it is asked, also when a create
// waits for room on the connection or for its answer, or is given up.
//
// Promise: A create whose context panics leaves no protected node.
func TestCreateWhoseContextPanicsLeavesNothingBehind(t *testing.T) {
	for _, op := range []string{
		"create protected", "create ephemeral", "create with siblings", "transaction protected", "transaction ephemeral",
	} {
		for way, disturb := range waysOfACreate {
			t.Run(op+", "+way, func(t *testing.T) {
				for nth, hit := int32(1), true; hit; nth++ {
					bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
						mustCreate(t, c, "/n", "")
						wait := disturb(t, srv, c)
						hit = contextPanics(t, srv, c, op, nth)
						wait()
					})
				}
			})
		}
	}
}

// waysOfACreate are what happens to a create that has a second.
var waysOfACreate = map[string]func(*testing.T, *zktest.Server, *framework.Client) (wait func()){
	"at once": func(*testing.T, *zktest.Server, *framework.Client) func() { return func() {} },
	"waits for room": func(t *testing.T, srv *zktest.Server, c *framework.Client) func() {
		return crowdConnection(t.Context(), c, srv, time.Second/2)
	},
	"given up": func(_ *testing.T, srv *zktest.Server, _ *framework.Client) func() {
		srv.Inject(zktest.Rule{Do: zktest.DelayReply(2 * time.Second)})
		return func() {}
	},
}

func contextPanics(t *testing.T, srv *zktest.Server, c *framework.Client, op string, nth int32) (hit bool) {
	ctx := newBroken(within(t, time.Second), nth)
	returned := returns(func() { operationsWithReservations(c)[op](ctx, "/n") })
	hit = ctx.hasPanicked()
	require.Equal(t, hit, !returned)
	time.Sleep(time.Minute)
	for _, name := range srv.Children("/n") {
		require.False(t, hit && strings.HasPrefix(name, "_c_"), "a protected node is left by panic %d", nth)
	}
	renew(t, srv)
	require.NoError(t, operationsWithReservations(c)[op](within(t, time.Hour), "/n"))
	return hit
}

// returns calls f and reports whether it has returned.
func returns(f func()) (returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recover() }()
		f()
		returned = true
	}()
	<-done
	return returned
}

// renew makes /n as it was at the beginning.
func renew(t *testing.T, srv *zktest.Server) {
	t.Helper()
	for _, name := range srv.Children("/n") {
		require.NoError(t, srv.Delete("/n/"+name))
	}
	if _, there := srv.Node("/n"); there {
		require.NoError(t, srv.Delete("/n"))
	}
	require.NoError(t, srv.Create("/n", nil))
}
