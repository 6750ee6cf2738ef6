package hertz_test

import (
	"context"
	"testing"

	sd "github.com/cloudwego/hertz/pkg/app/client/discovery"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/hertz"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
)

// A server registers and is found, and then it is not.
func TestServiceOnZooKeeper(t *testing.T) {
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) {
		client, _ := w.Connect(t)
		registry, resolver := hertz.NewRegistry(w.Observer), hertz.NewResolver(client)
		t.Cleanup(func() { require.NoError(t, resolver.Close()) })
		info := infoOf("10.0.0.7:9999")
		info.ServiceName = recipetest.Path(t)[1:]
		require.NoError(t, registry.Register(info))
		require.Equal(t, []found{{"10.0.0.7:9999", 10, ""}}, resolve(t, resolver, info.ServiceName))
		require.Equal(t, []string{"10.0.0.7:9999"}, w.Nodes(t, "/"+info.ServiceName))
		require.NoError(t, registry.Deregister(info))
		require.Empty(t, w.Nodes(t, "/"+info.ServiceName))
		late := hertz.NewResolver(client)
		t.Cleanup(func() { require.NoError(t, late.Close()) })
		ctx := context.Background()
		_, err := late.Resolve(ctx, late.Target(ctx, &sd.TargetInfo{Host: info.ServiceName}))
		require.ErrorIs(t, err, discovery.ErrNoInstance)
	})
}
