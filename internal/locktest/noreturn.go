package locktest

import (
	"bytes"
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/locktrace"
)

// NoReturn tests what is left of a recipe when a function of the user's panics,
// or ends its goroutine. The function use uses the recipe, and leaves nothing
// behind unless it is interrupted so. Each call that a hook, an ACL provider, a
// suspend clock and the context of use get on the goroutine of use does not return in
// turn.
//
// After that there are no watches, and no ephemeral nodes but those that may
// stay, and the same client and another one can use the recipe.
func NoReturn(
	t *testing.T, use func(t *testing.T, ctx context.Context, c *framework.Client) error, mayStay ...string,
) {
	t.Helper()
	for function, option := range map[string]func(*bomb) framework.Option{
		"tracer": tracerOf, "ACL provider": aclOf, "context": contextOf,
	} {
		noReturnOf(t, function, option, use, mayStay)
	}
}

func noReturnOf(
	t *testing.T, function string, option func(*bomb) framework.Option,
	use func(t *testing.T, ctx context.Context, c *framework.Client) error, mayStay []string,
) {
	t.Helper()
	for way, end := range map[string]func(){"panic": func() { panic("no return") }, "goexit": runtime.Goexit} {
		if !thorough.Picked(3, t.Name(), function, way) {
			continue
		}
		t.Run(function+", "+way, func(t *testing.T) {
			for n, more := 0, true; more; n += thorough.Size(1, 5) {
				recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
					b := &bomb{left: n + 1, end: end}
					c, _ := w.Connect(t, option(b))
					more = noReturn(t, w, c, use, b)
					require.Subset(t, mayStay, w.Fake.Session(c.SessionID()).Ephemerals())
					for _, user := range []*framework.Client{c, w.Observer} {
						require.NoError(t, use(t, recipetest.Within(t, time.Hour), user))
					}
				})
			}
		})
	}
}

// noReturn reports whether there was such a call.
func noReturn(
	t *testing.T, w *recipetest.World, c *framework.Client,
	use func(*testing.T, context.Context, *framework.Client) error, b *bomb,
) bool {
	ctx := w.Patience(t)
	require.NoError(t, use(t, ctx, c)) // makes the parents
	synctest.Wait()
	before := len(w.Fake.Watches())
	done, returned := make(chan struct{}), false
	go func() {
		defer close(done)
		defer func() { recover() }()
		b.on.Store(goroutine())
		defer b.on.Store("")
		under := ctx
		if b.inContext {
			under = bombContext{ctx, b}
		}
		if err := use(t, under, c); err != nil {
			panic(err)
		}
		returned = true
	}()
	<-done
	require.Equal(t, b.hit, !returned)
	time.Sleep(30 * time.Second)
	synctest.Wait()
	require.LessOrEqual(t, len(w.Fake.Watches()), before) // less if use keeps an idle lock
	return b.hit
}

// bomb is set off by one of the calls on one goroutine.
type bomb struct {
	on        atomic.Value // the goroutine, as a string
	inContext bool         // the context of use has the bomb

	// These fields belong to that goroutine.
	left int // calls until then
	end  func()
	hit  bool
}

func (b *bomb) call() {
	if b.on.Load() != goroutine() {
		return
	}
	if b.left--; b.left == 0 {
		b.hit = true
		b.end()
	}
}

// goroutine returns the number of the goroutine that calls it.
func goroutine() string {
	var trace [64]byte
	n, _, _ := bytes.Cut(trace[:runtime.Stack(trace[:], false)], []byte("["))
	return string(n)
}

func tracerOf(b *bomb) framework.Option { return framework.WithHooks(bombTracer{bomb: b}) }

func aclOf(b *bomb) framework.Option {
	return framework.WithACLProvider(func(string) []zk.ACL {
		b.call()
		return zk.WorldACL(zk.PermAll)
	})
}

// contextOf sets nothing that matters for the client: the context of use has the bomb.
func contextOf(b *bomb) framework.Option {
	b.inContext = true
	return framework.WithServiceName("context")
}

// bombContext is a context of the user's own.
type bombContext struct {
	context.Context
	bomb *bomb
}

func (c bombContext) Done() <-chan struct{}       { c.bomb.call(); return c.Context.Done() }
func (c bombContext) Err() error                  { c.bomb.call(); return c.Context.Err() }
func (c bombContext) Deadline() (time.Time, bool) { c.bomb.call(); return c.Context.Deadline() }
func (c bombContext) Value(key any) any           { c.bomb.call(); return c.Context.Value(key) }

// bombTracer has all calls of a hook that are made on a caller's goroutine.
type bombTracer struct{ *bomb }

func (b bombTracer) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context {
	b.call()
	return ctx
}

func (b bombTracer) EndOperation(context.Context, clienttrace.OperationEnd) { b.call() }

func (b bombTracer) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	b.call()
	return ctx, Calls(func(any) { b.call() })
}

// BarrierWaited is of the hook of package barriers.
func (b bombTracer) BarrierWaited(barriers.Waited) { b.call() }
