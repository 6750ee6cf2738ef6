package recipes_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// nodeEnding is a call that waits until a node is gone.
type nodeEnding struct {
	end  func(ctx context.Context) error
	path string // the node's

	others func() // lets the other members of a barrier leave; nil if there are none
}

// endings have every call that waits until a node is gone.
var endings = map[string]func(t *testing.T, w *recipetest.World, c *framework.Client) nodeEnding{
	"PersistentNode.Shutdown": func(t *testing.T, w *recipetest.World, c *framework.Client) nodeEnding {
		n, err := nodes.NewPersistentNode(c, "/n", nil)
		require.NoError(t, err)
		_, err = n.WaitRegistered(w.Patience(t))
		require.NoError(t, err)
		return nodeEnding{end: n.Shutdown, path: "/n"}
	},
	"GroupMember.Leave": func(t *testing.T, w *recipetest.World, c *framework.Client) nodeEnding {
		m, err := nodes.NewGroup(c, "/g").Join(w.Patience(t), "m", nil)
		require.NoError(t, err)
		return nodeEnding{end: m.Leave, path: "/g/m"}
	},
	"Registration.Shutdown": func(t *testing.T, w *recipetest.World, c *framework.Client) nodeEnding {
		r, err := discovery.NewRegistration(c, "/services", discovery.CuratorCodec(), instance)
		require.NoError(t, err)
		there, err := r.WaitRegistered(w.Patience(t))
		require.NoError(t, err)
		return nodeEnding{end: r.Shutdown, path: there.Path}
	},
	"Latch.Shutdown, leading": func(t *testing.T, w *recipetest.World, c *framework.Client) nodeEnding {
		l, lease := leads(t, w, c)
		return nodeEnding{end: l.Shutdown, path: lease.Path()}
	},
	"Latch.Shutdown, waiting": func(t *testing.T, w *recipetest.World, c *framework.Client) nodeEnding {
		leads(t, w, w.Observer)
		l, err := leader.NewLatch(c, "/latch")
		require.NoError(t, err)
		w.WaitNodes(t, "/latch", 2)
		all, err := l.Participants(w.Patience(t))
		require.NoError(t, err)
		return nodeEnding{end: l.Shutdown, path: all[1].Path}
	},
	"Latch.Resign": func(t *testing.T, w *recipetest.World, c *framework.Client) nodeEnding {
		l, lease := leads(t, w, c)
		return nodeEnding{end: l.Resign, path: lease.Path()}
	},
	"Selector.Resign": func(t *testing.T, w *recipetest.World, c *framework.Client) nodeEnding {
		s, working := leader.NewSelector(c, "/selector"), make(chan string)
		go s.Run(w.Patience(t), func(ctx context.Context) error {
			lease, _ := locks.LeaseFromContext(ctx)
			working <- lease.Path()
			<-ctx.Done()
			return nil
		})
		return nodeEnding{end: s.Resign, path: <-working}
	},
	"Passage.Leave": passage,
}

func leads(t *testing.T, w *recipetest.World, c *framework.Client) (*leader.Latch, *locks.Lease) {
	l, err := leader.NewLatch(c, "/latch")
	require.NoError(t, err)
	lease, err := l.WaitLeadership(w.Patience(t))
	require.NoError(t, err)
	return l, lease
}

// passage returns a member of a barrier that would wait for the other one.
func passage(t *testing.T, w *recipetest.World, c *framework.Client) nodeEnding {
	ctx := w.Patience(t)
	second := make(chan *barriers.Passage)
	go func() {
		p, _ := barriers.NewDoubleBarrier(w.Observer, "/b", 2).Enter(ctx)
		second <- p
	}()
	p, err := barriers.NewDoubleBarrier(c, "/b", 2).Enter(ctx)
	require.NoError(t, err)
	other := <-second
	require.NotNil(t, other)
	return nodeEnding{end: p.Leave, path: "/b/" + p.Name(), others: func() { go other.Leave(ctx) }}
}

// connection is what becomes of the connection of a client whose node ends.
type connection struct {
	opts   []framework.Option
	before func(s *situation)                 // before the call
	during func(s *situation)                 // soon after it has begun, if that is not nil
	ctx    func(t *testing.T) context.Context // of the call; if nil, it does not end
	after  time.Duration                      // the call returns so long after its beginning
	want   []error                            // it matches all of these; none if a server has said that the node is gone
	member error                              // what a member of a barrier gets in place of nil
	stays  bool                               // the servers still have the node when the call returns
}

type situation struct {
	*recipetest.World
	client  *framework.Client
	network *recipetest.Network
	session int64
}

func (s *situation) cutOff() {
	s.network.Refuse(true)
	s.network.Cut()
	synctest.Wait()
}

// isSlow makes the server hold every write of the client for ten seconds.
func (s *situation) isSlow() {
	for _, op := range []zktest.Op{zktest.OpDelete, zktest.OpMulti, zktest.OpSetData} {
		s.Fake.Inject(zktest.Rule{Optional: true, Op: op, Session: s.session, Times: -1, Do: zktest.DelayRequest(10 * time.Second)})
	}
}

// connections have every state of a connection.
var connections = map[string]connection{
	"connected": {},
	"cut off": {
		opts:   []framework.Option{framework.WithConnectionTimeout(2 * time.Second)},
		before: (*situation).cutOff, after: 2 * time.Second, want: []error{framework.ErrNotConnected}, stays: true,
	},
	"connected, and the context has ended": {before: (*situation).isSlow, ctx: canceled, want: []error{context.Canceled}, stays: true},
	"cut off meanwhile": {
		opts:   []framework.Option{framework.WithConnectionTimeout(2 * time.Second)},
		before: (*situation).isSlow, during: (*situation).cutOff, after: 3 * time.Second, want: []error{framework.ErrNotConnected}, stays: true,
	},
	"cut off, and the context ends": {
		before: (*situation).cutOff, after: time.Second, stays: true,
		ctx:  func(t *testing.T) context.Context { return recipetest.Within(t, time.Second) },
		want: []error{framework.ErrNotConnected, context.DeadlineExceeded},
	},
	"cut off, and the context has ended": {
		before: (*situation).cutOff, stays: true, ctx: canceled,
		want: []error{framework.ErrNotConnected, context.Canceled},
	},
	"session given up here, and alive at the servers": {
		opts: []framework.Option{framework.WithConnectionTimeout(time.Hour), framework.WithSafetyMargin(0.5)},
		before: func(s *situation) {
			_ = s.client.Sync(context.Background(), "/") // it is given up ten seconds later
			s.cutOff()
		},
		after: 10 * time.Second, stays: true,
		want: []error{framework.ErrLeftToServers, framework.ErrSessionLost},
	},
	"session ended by the servers": {
		before: (*situation).isSlow, after: time.Second,
		during: func(s *situation) { s.Fake.Session(s.session).Expire() }, member: framework.ErrSessionLost,
	},
	"client closed": {
		before: (*situation).isSlow, after: time.Second,
		during: func(s *situation) { s.client.Close() }, member: framework.ErrClosed,
	},
	"client closed without a connection": {
		before: (*situation).cutOff, during: func(s *situation) { s.client.Close() }, after: 2 * time.Second, stays: true,
		want: []error{framework.ErrLeftToServers, framework.ErrClosed},
	},
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// slack is how long a member of a barrier tells the others that it leaves.
const slack = 600 * time.Millisecond

// Every call that waits until a node is gone keeps the rule of this package's
// documentation, whatever becomes of the connection.
//
// Promise: A nil from Shutdown, Leave or Resign means that a server said the node is gone.
func TestEveryEndingKeepsTheRule(t *testing.T) {
	for name, begin := range endings {
		for of, row := range connections {
			t.Run(name+"/"+of, func(t *testing.T) {
				recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) { endAmid(t, w, begin, row) })
			})
		}
	}
}

func endAmid(t *testing.T, w *recipetest.World, begin func(*testing.T, *recipetest.World, *framework.Client) nodeEnding, row connection) {
	c, network := w.Connect(t, append([]framework.Option{framework.WithSessionTimeout(20 * time.Second)}, row.opts...)...)
	s := &situation{w, c, network, c.SessionID()}
	e := begin(t, w, c)
	synctest.Wait()
	if row.before != nil {
		row.before(s)
	} else if e.others != nil {
		e.others()
	}
	ctx := context.Background()
	if row.ctx != nil {
		ctx = row.ctx(t)
	}
	begun, returned := time.Now(), make(chan error, 1)
	go func() { returned <- e.end(ctx) }()
	if row.during != nil {
		time.Sleep(time.Second)
		require.Empty(t, returned)
		row.during(s)
	}
	err := <-returned
	took := time.Since(begun)

	if e.others != nil && row.member != nil {
		row.want = []error{row.member}
	}
	if len(row.want) == 0 {
		require.NoError(t, err)
	}
	for _, want := range row.want {
		require.ErrorIs(t, err, want)
	}
	for _, other := range []error{framework.ErrLeftToServers, context.Canceled, context.DeadlineExceeded} {
		require.Equal(t, slices.Contains(row.want, other), errors.Is(err, other), "%v", err)
	}
	require.GreaterOrEqual(t, took, row.after)
	require.LessOrEqual(t, took, row.after+slack)
	_, there := w.Fake.Node(e.path)
	require.Equal(t, row.stays, there)

	network.Refuse(false)
	time.Sleep(2 * time.Minute)
	_, there = w.Fake.Node(e.path)
	require.False(t, there, "the client goes on")
}

// Release, Do, Lead and Run do not wait without a connection, and neither does a
// Close that deletes no node. Their nil means that the client goes on.
func TestCallsThatDoNotWaitWithoutAConnection(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T, s *situation) (end func(ctx context.Context) error){
		"Lease.Release": func(t *testing.T, s *situation) func(context.Context) error {
			lease, err := locks.NewInterProcessMutex(s.client, "/n").Acquire(s.Patience(t))
			require.NoError(t, err)
			return lease.Release
		},
		"InterProcessMutex.Do": func(t *testing.T, s *situation) func(context.Context) error {
			return s.working(t, func(work func(context.Context) error) error {
				return locks.NewInterProcessMutex(s.client, "/n").Do(s.Patience(t), work)
			})
		},
		"Latch.Lead": func(t *testing.T, s *situation) func(context.Context) error {
			l, _ := leads(t, s.World, s.client)
			return s.working(t, func(work func(context.Context) error) error { return l.Lead(s.Patience(t), work) })
		},
		"Selector.Run": func(t *testing.T, s *situation) func(context.Context) error {
			return s.working(t, func(work func(context.Context) error) error {
				return leader.NewSelector(s.client, "/n").Run(s.Patience(t), work)
			})
		},
		"Value.Close": func(t *testing.T, s *situation) func(context.Context) error {
			v, err := shared.NewCount(s.client, "/n", 1)
			require.NoError(t, err)
			return withoutContext(v.Close)
		},
		"Cache.Close": func(t *testing.T, s *situation) func(context.Context) error {
			c, err := cache.New(s.client, "/")
			require.NoError(t, err)
			return withoutContext(c.Close)
		},
		"Directory.Close": func(t *testing.T, s *situation) func(context.Context) error {
			d, err := discovery.NewDirectory(s.client, "/services", discovery.CuratorCodec(), "orders")
			require.NoError(t, err)
			return withoutContext(d.Close)
		},
	} {
		t.Run(name, func(t *testing.T) {
			recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				c, network := w.Connect(t)
				s := &situation{w, c, network, c.SessionID()}
				end := begin(t, s)
				synctest.Wait()
				s.cutOff()
				begun := time.Now()
				require.NoError(t, end(context.Background()))
				require.Zero(t, time.Since(begun))
				network.Refuse(false)
			})
		})
	}
}

// working calls do with work that goes on until the returned function is called,
// which returns what do does.
func (s *situation) working(t *testing.T, do func(work func(context.Context) error) error) (end func(context.Context) error) {
	began, enough, returned := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() { returned <- do(func(context.Context) error { close(began); <-enough; return nil }) }()
	<-began
	return func(context.Context) error { close(enough); return <-returned }
}
