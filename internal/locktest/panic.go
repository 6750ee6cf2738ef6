package locktest

import (
	"bytes"
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locktrace"
)

// RecoveredPanic tests that a recipe leaves nothing behind when a hook or an ACL provider
// panics and the program recovers, as net/http does. The function use uses the recipe, and
// leaves nothing behind unless it panics. In each run, another call of a hook or an ACL
// provider on the goroutine of use panics. By default, only some of these runs are made.
// After each run, the client must have no ephemeral nodes, and both this client and another
// client must be able to use the recipe.
func RecoveredPanic(t *testing.T, use func(t *testing.T, ctx context.Context, c *framework.Client) error) {
	t.Helper()
	for n, more := 1, true; more; n += thorough.Size(1, 3) {
		recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
			b := &bomb{}
			c, _ := w.Connect(t, framework.WithHooks(b), framework.WithACLProvider(func(string) []zk.ACL {
				b.call()
				return zk.WorldACL(zk.PermAll)
			}))
			require.NoError(t, use(t, w.Patience(t), c)) // creates the parents
			b.left = n
			more = b.recovers(func() { require.NoError(t, use(t, w.Patience(t), c)) })
			time.Sleep(30 * time.Second)
			require.Empty(t, zkinside.Of(w.Fake).Ephemerals(c.SessionID()))
			for _, user := range []*framework.Client{c, w.Observer} {
				require.NoError(t, use(t, recipetest.Within(t, time.Hour), user))
			}
		})
	}
}

// bomb is a hook. One of its calls on one goroutine panics.
type bomb struct {
	on   atomic.Value // the goroutine, as a string
	left int          // how many calls on that goroutine are left until the panic
}

// recovers reports whether f has panicked because of the bomb.
func (b *bomb) recovers(f func()) (panicked bool) {
	b.on.Store(goroutine())
	defer func() {
		b.on.Store("")
		if v := recover(); v != nil && v != b {
			panic(v)
		} else if v != nil {
			panicked = true
		}
	}()
	f()
	return false
}

func (b *bomb) call() {
	if b.on.Load() != goroutine() {
		return
	}
	if b.left--; b.left == 0 {
		panic(b)
	}
}

// goroutine returns the number of the current goroutine.
func goroutine() string {
	var trace [64]byte
	n, _, _ := bytes.Cut(trace[:runtime.Stack(trace[:], false)], []byte("["))
	return string(n)
}

func (b *bomb) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context {
	b.call()
	return ctx
}

func (b *bomb) EndOperation(context.Context, clienttrace.OperationEnd) { b.call() }

func (b *bomb) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	b.call()
	return ctx, Calls(func(any) { b.call() })
}
