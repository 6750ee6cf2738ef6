package recipes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// living is what a caller has of something that was started.
type living struct {
	done  <-chan struct{}
	err   func() error
	wait  func(ctx context.Context) error // until a server has done what it is asked for
	close func(ctx context.Context) error
}

// subject is a recipe that is started, and ends.
type subject struct {
	begin  func(t *testing.T, h *home) (*living, error)
	closed error     // what its Close or Shutdown ends it with; nil if the caller leaves it
	asks   zktest.Op // the request that it needs, once it has to look

	// disturb makes it look again, if begin returns when there is no need to
	// look any more.
	disturb func(t *testing.T, h *home)

	// survives says that a refusal does not end the recipe, because users have no use
	// for its end: the recipe is a copy, and reports what the copy lacks.
	survives bool

	isLoop bool // on the caller's goroutine, which needs no end and no wait
}

// home is where a subject lives.
type home struct {
	*recipetest.World
	client *framework.Client
}

func newHome(t *testing.T, w *recipetest.World) *home {
	h := &home{World: w}
	h.client, _ = w.Connect(t, framework.WithRetry(retry.Forever(time.Second)))
	return h
}

// answers has the server answer all requests that the subject needs, from now on
// or until the rule is removed.
func (h *home) answers(op zktest.Op, do zktest.Action) *zktest.Injection {
	return h.Fake.Inject(zktest.Rule{Optional: true, Op: op, Session: h.client.SessionID(), Times: -1, Do: do})
}

// instance is what a registration registers.
var instance = discovery.Instance{Service: "orders", ID: "a", Address: "10.0.0.7", Port: 80}

var subjects = map[string]subject{
	"Cache": {
		closed: cache.ErrClosed, asks: zkinside.OpAddWatch, survives: true,
		begin: func(_ *testing.T, h *home) (*living, error) {
			c, err := cache.New(h.client, "/")
			if err != nil {
				return nil, err
			}
			return &living{c.Done(), c.Err, c.WaitSynced, withoutContext(c.Close)}, nil
		},
	},
	"Value": {
		closed: shared.ErrClosed, asks: zktest.OpGetData,
		begin: func(_ *testing.T, h *home) (*living, error) {
			v, err := shared.NewCount(h.client, "/v", 7)
			if err != nil {
				return nil, err
			}
			return &living{v.Done(), v.Err, v.WaitSynced, withoutContext(v.Close)}, nil
		},
	},
	"PersistentNode": {
		closed: nodes.ErrClosed, asks: zktest.OpCreate,
		begin: func(_ *testing.T, h *home) (*living, error) {
			n, err := nodes.NewPersistentNode(h.client, "/n", nil)
			if err != nil {
				return nil, err
			}
			ready := func(ctx context.Context) error { _, err := n.WaitRegistered(ctx); return err }
			return &living{n.Done(), n.Err, ready, n.Shutdown}, nil
		},
	},
	"GroupMember": {
		closed: nodes.ErrClosed, asks: zktest.OpCreate,
		begin: func(t *testing.T, h *home) (*living, error) {
			m, err := nodes.NewGroup(h.client, "/g").Join(h.Patience(t), "m", nil)
			if err != nil {
				return nil, err
			}
			update := func(ctx context.Context) error { return m.Update(ctx, []byte("payload")) }
			return &living{m.Node().Done(), m.Node().Err, update, m.Leave}, nil
		},
		disturb: func(t *testing.T, h *home) { require.NoError(t, h.Fake.Delete("/g/m")) },
	},
	"view of a group": {
		asks: zkinside.OpAddWatch, survives: true, isLoop: true,
		begin: func(t *testing.T, h *home) (*living, error) {
			ctx, cancel := context.WithCancel(h.Patience(t))
			done, began := make(chan struct{}), make(chan struct{}, 1)
			var last error
			go func() {
				defer close(done)
				for _, err := range nodes.NewGroup(h.client, "/").Changes(ctx) {
					if last = err; err != nil {
						return
					}
					select {
					case began <- struct{}{}:
					default:
					}
				}
			}()
			select {
			case <-done:
				cancel()
				return nil, last
			case <-began:
			case <-time.After(time.Second): // the server fails
			}
			err := func() error { <-done; return last }
			return &living{done, err, nil, func(context.Context) error { cancel(); <-done; return last }}, nil
		},
		disturb: func(t *testing.T, h *home) { // it reads all anew after an interruption
			require.True(t, h.Fake.Session(h.client.SessionID()).Cut())
		},
	},
	"Registration": {
		closed: nodes.ErrClosed, asks: zktest.OpCreate,
		begin: func(_ *testing.T, h *home) (*living, error) {
			r, err := discovery.NewRegistration(h.client, "/services", discovery.CuratorCodec(), instance)
			if err != nil {
				return nil, err
			}
			ready := func(ctx context.Context) error { _, err := r.WaitRegistered(ctx); return err }
			return &living{r.Done(), r.Err, ready, r.Shutdown}, nil
		},
	},
	"Directory": {
		closed: discovery.ErrClosed, asks: zkinside.OpAddWatch, survives: true,
		begin: func(_ *testing.T, h *home) (*living, error) {
			h.Fake.Create("/services/orders/a", []byte("{}"))
			d, err := discovery.NewDirectory(h.client, "/services", discovery.CuratorCodec(), "orders")
			if err != nil {
				return nil, err
			}
			return &living{d.Done(), d.Err, d.WaitSynced, withoutContext(d.Close)}, nil
		},
	},
	"Latch": {
		closed: leader.ErrClosed, asks: zktest.OpCreate,
		begin: func(_ *testing.T, h *home) (*living, error) {
			l, err := leader.NewLatch(h.client, "/l")
			if err != nil {
				return nil, err
			}
			leads := func(ctx context.Context) error { _, err := l.WaitLeadership(ctx); return err }
			return &living{l.Done(), l.Err, leads, l.Shutdown}, nil
		},
	},
}

func withoutContext(f func() error) func(context.Context) error {
	return func(context.Context) error { return f() }
}
