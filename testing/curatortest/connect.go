// Package curatortest gives a test a server and a client in one line:
//
//	func TestService(t *testing.T) {
//		srv, client := curatortest.Start(t)
//		...
//	}
//
// A test that cuts the client off gives it a [zktest.Host]:
//
//	srv := zktest.Start(t)
//	host := srv.NewHost()
//	client := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
//	...
//	host.LoseSessions()
//
// The server may also be inside a bubble of testing/synctest. Package zktest imports no
// client, so that it serves tests of any ZooKeeper client. Package curatortest connects
// the client of package framework to it.
package curatortest

import (
	"context"
	"net"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// Server is a server to which clients can connect: *zktest.Server, *zktest.Member, or
// any other server with an address, such as a real server in a container.
type Server interface {
	Addr() string
}

// longestWait bounds the wait for a connection. It only matters for a server
// that is down.
const longestWait = 30 * time.Second

// Start returns a server and a client of it. Both are closed when the test ends.
// The options are the client's, see [Connect]. A server with options comes from
// [zktest.Start].
func Start(tb zktest.TB, opts ...framework.Option) (*zktest.Server, *framework.Client) {
	tb.Helper()
	srv := zktest.Start(tb)
	return srv, Connect(tb, srv, opts...)
}

// Connect returns a client that has a connection and a session. The client is
// closed when the test ends, before a server that was started earlier. It may
// also be closed before that.
//
// The options are options of framework.New. If there is no connection within 30
// seconds, or an option cannot be used, the test fails with the reason.
func Connect(tb zktest.TB, srv Server, opts ...framework.Option) *framework.Client {
	tb.Helper()
	return connect(tb, srv.Addr(), srv, opts)
}

// ConnectEnsemble is Connect for an ensemble. The client knows all of its
// members.
func ConnectEnsemble(tb zktest.TB, ens *zktest.Ensemble, opts ...framework.Option) *framework.Client {
	tb.Helper()
	return connect(tb, ens.ConnectString(), ens, opts)
}

// inMemory is a server that has no port. Clients must use its network.
type inMemory interface {
	Dialer() func(ctx context.Context, network, address string) (net.Conn, error)
}

func connect(tb zktest.TB, servers string, of any, opts []framework.Option) *framework.Client {
	tb.Helper()
	if m, ok := of.(inMemory); ok {
		// The caller's options come later, so that its dialer wins.
		opts = append([]framework.Option{framework.WithDialer(m.Dialer())}, opts...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), longestWait)
	defer cancel()
	client, err := framework.Connect(ctx, servers, opts...)
	if err != nil {
		tb.Fatalf("curatortest: %v", err)
		return nil // Fatalf of a TB that is not a test may return
	}
	tb.Cleanup(func() { client.Close() })
	return client
}
