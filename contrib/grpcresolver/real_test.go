package grpcresolver_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
)

// told is a channel of gRPC's for a resolver, which passes on what it is told.
type told struct {
	resolver.ClientConn
	lists chan string
}

func (c told) UpdateState(s resolver.State) error {
	list := addresses(s)
	slices.Sort(list)
	c.lists <- strings.Join(list, " ")
	return nil
}

func (c told) ReportError(err error) { c.lists <- err.Error() }

// until waits until the channel receives a list.
func (c told) until(ctx context.Context, t *testing.T, list string) {
	t.Helper()
	for {
		select {
		case now := <-c.lists:
			if now == list {
				return
			}
		case <-ctx.Done():
			require.FailNow(t, "the channel has not received "+list)
		}
	}
}

// Instances register, are found and called, and leave.
func TestChannelOnZooKeeper(t *testing.T) {
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) {
		ctx, base := w.Patience(t), recipetest.Path(t)
		var n network
		register := func(id string, port int) *discovery.Registration {
			i := replica(id, port)
			address := map[int]string{1: here, 2: there}[port]
			n.serve(t, address, "orders")
			r, err := discovery.NewRegistration(w.Observer, base, discovery.CuratorCodec(), i)
			require.NoError(t, err)
			_, err = r.WaitRegistered(ctx)
			require.NoError(t, err)
			return r
		}
		b := grpcresolver.NewBuilder(w.Observer)
		target := "zookeeper://" + base + "/orders"
		heard := told{lists: make(chan string, 100)}
		r, err := b.Build(targetOf(t, target), heard, resolver.BuildOptions{})
		require.NoError(t, err)
		t.Cleanup(r.Close)
		first := register("a", 1)
		heard.until(ctx, t, here)
		second := register("b", 2)
		heard.until(ctx, t, here+" "+there)
		require.NoError(t, first.Shutdown(ctx))
		heard.until(ctx, t, there)
		name, err := ask(ctx, dial(t, &n, b, target), grpc.WaitForReady(true))
		require.NoError(t, err)
		require.Equal(t, there, name)
		require.NoError(t, second.Shutdown(ctx))
	})
}
