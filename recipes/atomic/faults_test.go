package atomic_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// A write must not be repeated on a node that was re-created and has the same version,
// even if the receipt is as before. The change is applied afresh then.
func TestNodeRecreatedDuringAnOutage(t *testing.T) {
	for name, opts := range waysToCount {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				n := atomic.NewLong(c, "/n", opts...)
				require.NoError(t, n.Store(ctx, 5))
				for _, op := range []zktest.Op{zktest.OpSetData, zktest.OpMulti} {
					w.Fake.Inject(zktest.Rule{Optional: true, Session: c.SessionID(), Op: op, Do: zktest.DropRequest()})
				}
				go func() {
					time.Sleep(time.Millisecond)
					w.Stop()
					time.Sleep(10 * time.Second)
					_ = w.Fake.Delete("/n")
					_ = w.Fake.Create("/n", nil)
					_ = w.Fake.Set("/n", []byte{0, 0, 0, 0, 0, 0, 0, 100})
					w.Start()
				}()
				now, err := n.Add(ctx, 1)
				if name == "plain" {
					require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
					require.EqualValues(t, 100, w.dataOf(t, "/n")[7])
					return
				}
				require.NoError(t, err, "the receipt tells that the first write is void")
				require.EqualValues(t, 101, now)
			})
		})
	}
}

// The machine sleeps, for a moment in its session or for longer, in which its
// clock stands still, and the node is re-created with the same version. It is
// not taken to be as it was.
//
// Promise: A remembered value is not used after the machine slept.
func TestNodeIsNotRememberedThroughASleep(t *testing.T) {
	for _, sleep := range []time.Duration{3 * time.Second, time.Hour} {
		notRemembered(t, sleep.String(), func(_ *world, host *zktest.Host, _ *framework.Client) error {
			return host.Suspend(sleep)
		})
	}
}

// The same holds for the loss of the session.
//
// Promise: A remembered value is not used in the next session.
func TestNodeIsNotRememberedInTheNextSession(t *testing.T) {
	notRemembered(t, "loss", func(w *world, _ *zktest.Host, c *framework.Client) error {
		w.Fake.Session(c.SessionID()).Expire()
		return nil
	})
}

// notRemembered tests that a node is read again after something.
func notRemembered(t *testing.T, what string, after func(*world, *zktest.Host, *framework.Client) error) {
	t.Helper()
	for name, opts := range waysToCount {
		t.Run(what+", "+name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				host := w.Fake.NewHost()
				c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), insider.WithSuspendClock(zkinside.Suspended(host)).(framework.Option))
				require.NoError(t, err)
				defer c.Close()
				n := atomic.NewLong(c, "/n", opts...)
				require.NoError(t, n.Store(w.Patience(t), 100))
				require.NoError(t, after(w, host, c))
				require.NoError(t, w.Fake.Delete("/n"))
				require.NoError(t, w.Fake.Create("/n", nil))
				require.NoError(t, w.Fake.Set("/n", []byte{0, 0, 0, 0, 0, 0, 0, 5}))
				time.Sleep(500 * time.Millisecond) // it has noticed by then
				now, err := n.Add(w.Patience(t), 1)
				require.NoError(t, err)
				require.EqualValues(t, 6, now)
			})
		})
	}
}

// The reply to the create of the node, or of the receipt, is lost. The change is made
// once, and one receipt is left.
func TestCreateWhoseReplyIsLost(t *testing.T) {
	for _, path := range []string{"/n", "/receipts/*"} {
		for name, lost := range map[string]zktest.Action{"request": zktest.DropRequest(), "reply": zktest.DropReply()} {
			t.Run(name+" of "+path, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					ctx := w.Patience(t)
					c, _ := w.Connect(t)
					n := atomic.NewLong(c, "/n", atomic.WithReceipts("/receipts"))
					w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: path, Do: lost})
					now, err := n.Add(ctx, 5)
					require.NoError(t, err)
					require.EqualValues(t, 5, now)
					settle()
					require.Len(t, w.Fake.Children("/receipts"), 1)
				})
			})
		}
	}
}

// A number is not written to a node that goes with a session.
func TestNodeThatIsEphemeral(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		path := recipetest.Path(t)
		refuses := func(path string) {
			t.Helper()
			n := atomic.NewLong(c, path)
			require.ErrorIs(t, n.Store(ctx, 77), atomic.ErrEphemeral)
			now, err := n.Load(ctx)
			require.NoError(t, err)
			require.Zero(t, now)
		}
		_, err := c.Create(ctx, path+"-ephemeral", nil, framework.WithMode(framework.Ephemeral))
		require.NoError(t, err)
		refuses(path + "-ephemeral")
	})
}

// A Load needs no right to create the node.
func TestRefusedCreateIsTheErrorOfTheWriter(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		n := atomic.NewLong(c, "/n")
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayRequest(time.Second)})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 100, Do: zktest.Fail(zktest.ErrNoAuth)})
		var all sync.WaitGroup
		var add, load error
		all.Go(func() { _, load = n.Load(ctx) })
		time.Sleep(time.Millisecond)
		all.Go(func() { _, add = n.Add(ctx, 1) })
		all.Wait()
		require.ErrorIs(t, add, zk.ErrNoAuth)
		require.NoError(t, load)
	})
}

// Another client makes an ephemeral node between the read, which finds none, and
// the create. A number that was counted into that node would be lost with its
// session.
func TestEphemeralNodeThatIsMadeMeanwhileIsNotWritten(t *testing.T) {
	for name, change := range map[string]func(ctx context.Context, n *atomic.Long) error{
		"add":              func(ctx context.Context, n *atomic.Long) error { _, err := n.Add(ctx, 5); return err },
		"store":            func(ctx context.Context, n *atomic.Long) error { return n.Store(ctx, 5) },
		"compare and swap": func(ctx context.Context, n *atomic.Long) error { _, err := n.CompareAndSwap(ctx, 0, 5); return err },
		"update": func(ctx context.Context, n *atomic.Long) error {
			_, err := n.Update(ctx, func(old int64) (int64, error) { return old + 5, nil })
			return err
		},
	} {
		for _, opts := range [][]atomic.Option{nil, {atomic.WithReceipts("/receipts")}} {
			t.Run(fmt.Sprint(name, len(opts)), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					c, _ := w.Connect(t)
					w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/n", Session: c.SessionID(), Do: zktest.Call(func(zktest.Request) {
						_, err := w.Observer.Create(context.Background(), "/n", nil, framework.WithMode(framework.Ephemeral))
						assert.NoError(t, err)
					})})
					require.ErrorIs(t, change(w.Patience(t), atomic.NewLong(c, "/n", opts...)), atomic.ErrEphemeral)
					require.Empty(t, w.dataOf(t, "/n"))
				})
			})
		}
	}
}

// A node that could not be written has been replaced, or written by another kind of
// writer, before the change begins. The change does not fail because of what the
// client remembers.
//
// Promise: A change does not fail because of an ephemeral node that was replaced before.
func TestNodeThatCouldNotBeWrittenIsReadAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		_, err := w.Observer.Create(ctx, "/n", nil, framework.WithMode(framework.Ephemeral))
		require.NoError(t, err)
		n := atomic.NewLong(c, "/n")
		_, err = n.Add(ctx, 1)
		require.ErrorIs(t, err, atomic.ErrEphemeral)
		require.NoError(t, w.Observer.Delete(ctx, "/n", framework.AnyVersion))
		require.NoError(t, w.Fake.Create("/n", nil))
		now, err := n.Add(ctx, 1)
		require.NoError(t, err)
		require.EqualValues(t, 1, now)
	})
}
