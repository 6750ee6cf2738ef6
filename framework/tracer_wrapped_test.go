package framework_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/testing/zktest"
)

// recipeTracer has a method that a recipe asks for, as tracing.New's has.
type recipeTracer struct{ clienttrace.NoTracer }

func (recipeTracer) StartAcquire() {}

// One who wraps a Tracer in a struct, to change one method, must not lose what
// recipes tell without a word.
func TestTracerThatHidesMethodsIsRefused(t *testing.T) {
	srv := zktest.Start(t)
	type hides struct{ clienttrace.Tracer }
	type shows struct{ recipeTracer }
	for name, tracer := range map[string]clienttrace.Tracer{
		"value": hides{recipeTracer{}}, "pointer": &hides{recipeTracer{}}, "twice": hides{&hides{recipeTracer{}}},
	} {
		_, err := framework.New(srv.Addr(), framework.WithTracer(tracer))
		require.ErrorIs(t, err, zk.ErrBadArguments, name)
		require.ErrorContains(t, err, "hides the method StartAcquire of the framework_test.recipeTracer", name)
	}
	for name, tracer := range map[string]clienttrace.Tracer{
		"embeds the type": shows{}, "nothing to hide": hides{clienttrace.NoTracer{}}, "alone": recipeTracer{},
	} {
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithTracer(tracer))
		require.NoError(t, err, name)
		require.NoError(t, c.Close())
	}
}
