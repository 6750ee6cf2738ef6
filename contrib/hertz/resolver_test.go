package hertz_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/hertz"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

const (
	node1 = "/product/10.0.0.7:1"
	node2 = "/product/10.0.0.7:2"
	says  = `{"Weight":3,"Tags":{"group":"blue"}}`
)

var (
	first  = found{"10.0.0.7:1", 3, "blue"}
	second = found{"10.0.0.7:2", 3, "blue"}
)

// hasError resolves a service, and returns the error.
func hasError(t *testing.T, r *hertz.Resolver, name string) error {
	t.Helper()
	result, err := r.Resolve(context.Background(), name)
	require.Error(t, err)
	require.Empty(t, result)
	return err
}

// hertz calls Resolve again and again, and gets what is there. When the last
// instance has gone, that is an empty list, because hertz would keep the last one
// after an error.
func TestResolveFollowsAService(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		require.NoError(t, srv.Create(node1, []byte(says)))
		r := hertz.NewResolver(start(t, srv).client)
		require.Equal(t, []found{first}, resolve(t, r, "product"))
		require.NoError(t, srv.Create(node2, []byte(says)))
		synctest.Wait()
		require.Equal(t, []found{first, second}, resolve(t, r, "product"))
		require.NoError(t, srv.Set(node1, []byte(`{"Weight":5}`)))
		require.NoError(t, srv.Create("/product/10.0.0.7:3", []byte("garbage")))
		synctest.Wait()
		require.Equal(t, []found{{"10.0.0.7:1", 5, ""}, second}, resolve(t, r, "product"))
		require.NoError(t, srv.Delete(node1))
		passGrace()
		require.Equal(t, []found{second}, resolve(t, r, "product"))
		require.NoError(t, srv.Delete(node2))
		passGrace()
		require.Empty(t, resolve(t, r, "product"))
	})
}

// The weights of a service have a sum, whoever has written them.
func TestWeightsHaveALimit(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		require.NoError(t, srv.Create(node1, []byte(`{"Weight":9223372036854775807}`)))
		require.NoError(t, srv.Create(node2, []byte(`{"Weight":-9223372036854775807}`)))
		r := hertz.NewResolver(start(t, srv).client)
		require.Equal(t, []found{{"10.0.0.7:1", 1_000_000, ""}, {"10.0.0.7:2", 10, ""}}, resolve(t, r, "product"))
	})
}

// The name of a service that nobody has registered is an error, with which hertz
// asks again at the next call.
func TestUnknownName(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		r := hertz.NewResolver(start(t, srv).client)
		began := time.Now()
		err := hasError(t, r, "product")
		require.ErrorIs(t, err, discovery.ErrNoInstance)
		require.EqualError(t, err, `zookeeper: service "product": no instance to pick: none is registered`)
		require.Less(t, time.Since(began), time.Second)
		require.NoError(t, srv.Create(node2, []byte("garbage")))
		synctest.Wait()
		require.EqualError(t, hasError(t, r, "product"),
			`zookeeper: service "product": no instance to pick: 1 malformed, such as "/product/10.0.0.7:2": no weight and tags: "garbage"`)
		require.NoError(t, srv.Create(node1, []byte(says)))
		synctest.Wait()
		require.Equal(t, []found{first}, resolve(t, r, "product"))
		for _, name := range []string{"", "/", "a//b", ".."} {
			require.Error(t, hasError(t, r, name))
		}
	})
}

func TestOutageKeepsTheList(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		require.NoError(t, srv.Create(node1, []byte(says)))
		require.NoError(t, srv.Create(node2, []byte(says)))
		p := start(t, srv)
		r := hertz.NewResolver(p.client)
		require.Len(t, resolve(t, r, "product"), 2)
		p.host.Disconnect()
		require.NoError(t, srv.Delete(node1))
		for range 10 {
			time.Sleep(time.Minute)
			require.Equal(t, []found{first, second}, resolve(t, r, "product"))
		}
		p.host.Heal()
		time.Sleep(time.Minute)
		require.Equal(t, []found{second}, resolve(t, r, "product"))
	})
}

// Without a connection from the beginning, the error says why, and the list comes
// with the connection.
func TestOutageAtTheStart(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		require.NoError(t, srv.Create(node1, []byte(says)))
		p := startCutOff(t, srv)
		r := hertz.NewResolver(p.client)
		began := time.Now()
		err := hasError(t, r, "product")
		require.Equal(t, 5*time.Second, time.Since(began))
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.ErrorContains(t, err, "no route to host")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = r.Resolve(ctx, "product")
		require.ErrorIs(t, err, context.Canceled)
		p.host.Heal()
		time.Sleep(time.Minute)
		require.Equal(t, []found{first}, resolve(t, r, "product"))
	})
}

// A call waits for the first list.
func TestFirstCallWaitsForTheList(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		require.NoError(t, srv.Create(node1, []byte(says)))
		p := startCutOff(t, srv)
		time.AfterFunc(500*time.Millisecond, p.host.Heal)
		require.Equal(t, []found{first}, resolve(t, hertz.NewResolver(p.client), "product"))
	})
}

// All calls to a service share a directory, which has one watch. One for which
// nobody asks any more ends, when there is another new one.
func TestCallsShareADirectory(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		require.NoError(t, srv.Create(node1, []byte(says)))
		require.NoError(t, srv.Create("/orders/10.0.0.8:1", []byte(says)))
		r := hertz.NewResolver(start(t, srv).client)
		require.Len(t, resolve(t, r, "product"), 1)
		srv.ClearRequests()
		for range 3 {
			require.Len(t, resolve(t, r, "product"), 1)
		}
		settle()
		require.Empty(t, srv.Requests())
		require.Len(t, srv.Watches(), 1)
		time.Sleep(29 * time.Minute)
		require.Len(t, resolve(t, r, "orders"), 1)
		require.Len(t, srv.Watches(), 2)
		time.Sleep(2 * time.Minute)
		require.ErrorIs(t, hasError(t, r, "third"), discovery.ErrNoInstance)
		settle()
		require.Len(t, srv.Watches(), 2, "the first one has gone")
		require.Len(t, resolve(t, r, "product"), 1)
		require.Len(t, srv.Watches(), 3)
		require.NoError(t, r.Close())
		require.NoError(t, r.Close())
		settle()
		require.Empty(t, srv.Watches())
		require.ErrorIs(t, hasError(t, r, "product"), discovery.ErrClosed)
	})
}

// A service that may not be read is an error at once, and is tried again.
func TestServiceThatMayNotBeRead(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		require.NoError(t, srv.Create(node1, []byte(says)))
		p := start(t, srv)
		setACL := func(perms int32) {
			_, err := p.client.SetACL(t.Context(), "/product", zk.WorldACL(perms), -1)
			require.NoError(t, err)
		}
		setACL(zk.PermCreate | zk.PermAdmin)
		r, began := hertz.NewResolver(p.client), time.Now()
		for range 3 {
			require.ErrorIs(t, hasError(t, r, "product"), zk.ErrNoAuth)
		}
		require.Less(t, time.Since(began), time.Second)
		setACL(zk.PermAll)
		time.Sleep(5 * time.Second)
		require.Equal(t, []found{first}, resolve(t, r, "product"))
		require.Len(t, srv.Watches(), 1)
	})
}

// Names that anybody asks for do not pile up.
func TestNamesThatNobodyHas(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		require.NoError(t, srv.Create(node1, []byte(says)))
		r := hertz.NewResolver(start(t, srv).client)
		require.Equal(t, []found{first}, resolve(t, r, "product"))
		for n := range 100 {
			require.ErrorIs(t, hasError(t, r, fmt.Sprint("name-", n)), discovery.ErrNoInstance)
			time.Sleep(2 * time.Second)
		}
		settle()
		require.Len(t, srv.Watches(), 31, "those of the last minute, and one that has an instance")
		require.Equal(t, []found{first}, resolve(t, r, "product"))
	})
}

// The end of the client ends the directories. hertz keeps what it has been told.
func TestClosedClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		require.NoError(t, srv.Create(node1, []byte(says)))
		p := start(t, srv)
		r := hertz.NewResolver(p.client)
		require.Len(t, resolve(t, r, "product"), 1)
		require.NoError(t, p.client.Close())
		for range 2 {
			require.ErrorIs(t, hasError(t, r, "product"), framework.ErrClosed)
			require.ErrorIs(t, hasError(t, r, "orders"), framework.ErrClosed)
			time.Sleep(time.Minute)
		}
		require.NoError(t, r.Close())
	})
	require.Error(t, hasError(t, hertz.NewResolver(nil), "product"))
}
