package framework_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// writeGate lets writes to connections through, and counts them. Whoever receives from it
// has closed it, and opens it by sending the count back.
type writeGate chan int

func newWriteGate() writeGate {
	g := make(writeGate, 1)
	g <- 0
	return g
}

func (g writeGate) dialer(dial framework.DialFunc) framework.Option {
	return framework.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := dial(ctx, network, addr)
		return gatedConn{nc, g}, err
	})
}

type gatedConn struct {
	net.Conn
	gate writeGate
}

func (c gatedConn) Write(b []byte) (int, error) {
	c.gate <- <-c.gate + 1
	return c.Conn.Write(b)
}

// The create of the next goroutine does not wait for the reply to the delete: both
// take one write, and one round trip.
//
// Promise: A request that the client makes after it has begun a delete reaches the server behind the delete.
func TestBegunDeleteAndTheNextCreateGoOutTogether(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		g := newWriteGate()
		c := newClient(t, srv, g.dialer(srv.Dialer()))
		mustCreate(t, c, "/n", "")
		srv.ClearRequests()
		srv.Inject(zktest.Rule{Times: -1, Do: zktest.DelayReply(time.Second)})
		start := time.Now()

		<-g // the write of another request is under way
		go c.Sync(t.Context(), "/")
		synctest.Wait()
		wait := insider.Of(c).BeginDelete(t.Context(), "/n")
		go c.Create(t.Context(), "/n", nil)
		synctest.Wait()
		g <- 0
		require.NoError(t, wait())
		synctest.Wait()
		require.Equal(t, time.Second, time.Since(start))
		require.Equal(t, []zktest.Op{zktest.OpSync, zktest.OpDelete, zktest.OpCreate}, ops(srv))
		require.Equal(t, 2, <-g)
		g <- 0
		_, exists := srv.Node("/n")
		require.True(t, exists)
	})
}

// The delete is sent also if nobody waits for it yet. BeginDelete asks the context
// nothing.
func TestBeginDeleteSendsTheRequest(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/a", "")
		mustCreate(t, c, "/a/n", "")
		ctx := struct{ context.Context }{} // any call of a method panics
		wait := insider.Of(namespace(t, c, "/a")).BeginDelete(ctx, "/n")
		synctest.Wait()
		require.Empty(t, srv.Children("/a"))
		require.Panics(t, func() { _ = wait() })
	})
}

// Whatever happens between the two halves, or after them, is met as by a Delete
// WithGuarantee: wait returns what Delete returns, and the node goes.
func TestBegunDeleteIsGuaranteed(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	type call struct {
		srv *zktest.Server
		c   *framework.Client
	}
	for name, tc := range map[string]struct {
		fault   zktest.Action // of the first delete
		before  func(call)
		between func(call)
		ctx     context.Context
		want    []error // all of them; none for success
		deletes int
		after   time.Duration // when wait returns, at least
	}{
		"nothing happens":             {deletes: 1},
		"another client is first":     {before: func(t call) { _ = t.srv.Delete("/n") }, deletes: 1},
		"the request is lost":         {fault: zktest.DropRequest(), deletes: 2},
		"the reply is lost":           {fault: zktest.DropReply(), deletes: 2},
		"the answer comes before":     {between: func(call) { synctest.Wait() }, deletes: 1},
		"the connection ends":         {between: func(t call) { synctest.Wait(); t.srv.CutAll() }, deletes: 1},
		"the connection ends at once": {between: func(t call) { t.srv.CutAll() }, deletes: 1},
		"there is an outage": {
			fault: zktest.DropRequest(), between: func(t call) { synctest.Wait(); outageFor(t.srv, 5*time.Second) },
			deletes: 2, after: 5 * time.Second,
		},
		"there was an outage": {before: func(t call) { outageFor(t.srv, 5*time.Second) }, deletes: 1, after: 5 * time.Second},
		"the session ends": {
			fault: zktest.DropRequest(), between: func(t call) { t.srv.Session(t.c.SessionID()).Expire(); synctest.Wait() },
			deletes: 2,
		},
		"ctx has ended":    {ctx: ended, want: []error{context.Canceled, framework.ErrOutcomeUnknown}, deletes: 1},
		"the server fails": {fault: zktest.Fail(zkinside.ErrSystem), want: []error{framework.ErrOutcomeUnknown}, deletes: 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				if tc.before != nil {
					tc.before(call{srv, c})
				}
				if tc.deletes == 2 {
					srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: tc.fault})
				}
				start := time.Now()
				ctx := tc.ctx
				if ctx == nil {
					ctx = t.Context()
				}
				wait := insider.Of(c).BeginDelete(ctx, "/n")
				if tc.between != nil {
					tc.between(call{srv, c})
				}
				err := wait()
				for _, want := range tc.want {
					require.ErrorIs(t, err, want)
				}
				require.Equal(t, len(tc.want) > 0, err != nil, "%v", err)
				require.GreaterOrEqual(t, time.Since(start), tc.after)
				time.Sleep(time.Minute)
				_, exists := srv.Node("/n")
				require.False(t, exists)
				require.Equal(t, tc.deletes, srv.CountRequests(zktest.OpDelete))
			})
		})
	}
}

func outageFor(srv *zktest.Server, d time.Duration) {
	srv.RefuseConnections(true)
	srv.CutAll()
	time.AfterFunc(d, func() { srv.RefuseConnections(false) })
}

// A connection that has too much under way takes the delete in its turn.
func TestBegunDeleteThatWaitsForRoomIsMadeOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		patience time.Duration
		want     error
	}{
		"its caller waits": {time.Minute, nil},
		"its caller goes":  {time.Second, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				mustCreate(t, c, "/n", "")
				idle := crowdConnection(t.Context(), c, srv, 2*time.Second)
				wait := insider.Of(c).BeginDelete(within(t, tc.patience), "/n")
				var there bool
				var err error
				go func() { there, _, err = c.Exists(t.Context(), "/n") }()
				require.ErrorIs(t, wait(), tc.want)
				idle()
				time.Sleep(time.Minute)
				synctest.Wait()
				require.NoError(t, err)
				require.Equal(t, tc.want != nil, there, "what is asked next comes behind it, as long as its caller waits")
				require.Equal(t, 1, srv.CountRequests(zktest.OpDelete))
			})
		})
	}
}
