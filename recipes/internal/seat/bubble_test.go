package seat

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/testing/zktest"
)

// inBubble runs a test in virtual time, with a server and a client that is connected.
func inBubble(
	t *testing.T, test func(t *testing.T, srv *zktest.Server, c *framework.Client), opts ...framework.Option,
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), append(opts, framework.WithDialer(srv.Dialer()))...)
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.WaitConnected(t.Context()))
		test(t, srv, c)
	})
}

// mutex returns a lock at /l.
func mutex(c *framework.Client, change ...func(*Config)) *Lock {
	cfg := Config{
		Client: c, Path: "/l", Kind: "lock-", Op: "acquire",
		Blocks: order.Exclusive, EntersAfter: order.Exclusive,
		NotAcquired: func(n NotAcquired) error { return n.Err },
	}
	for _, f := range change {
		f(&cfg)
	}
	return New(cfg)
}

// readers returns the lock at /l of those who share it.
func readers(c *framework.Client, change ...func(*Config)) *Lock {
	return mutex(c, append([]func(*Config){readersConfig}, change...)...)
}

func readersConfig(cfg *Config) {
	cfg.Kind, cfg.Readers, cfg.Kinds = "read-", "read-", []string{"read-", "write-"}
	cfg.Blocks, cfg.EntersAfter = order.ReadersAndWriters("write-"), nil
}

// writers returns the lock at /l that excludes readers.
func writers(c *framework.Client, change ...func(*Config)) *Lock {
	return readers(c, append([]func(*Config){func(cfg *Config) { cfg.Kind = "write-" }}, change...)...)
}

// held is a hold of the node /n, with one lease.
type held struct {
	srv   *zktest.Server
	c     *framework.Client
	hold  *Hold
	lease *Lease
}

// withHold runs a test with a hold on a seat that is in no lane.
func withHold(t *testing.T, test func(t *testing.T, w held), opts ...framework.Option) {
	t.Helper()
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		node, err := c.Create(t.Context(), "/n", nil, framework.WithMode(framework.Ephemeral))
		require.NoError(t, err)
		h := newHold(&Lock{cfg: Config{Client: c}, boxed: "key"}, nil, nil, node)
		require.NotNil(t, h)
		test(t, held{srv, c, h, h.LeaseOf(t.Context())})
	}, opts...)
}

// expire ends the session of a seat, and waits until the client knows.
func expire(srv *zktest.Server, s *Seat) {
	srv.Session(s.session().ID()).Expire()
	<-s.session().Context().Done()
	synctest.Wait()
}

// exists reports whether a node below the root exists.
func exists(srv *zktest.Server, name string) bool {
	synctest.Wait()
	return slices.Contains(srv.Children("/"), name)
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
