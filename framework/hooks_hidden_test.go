package framework_test

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/testing/zktest"
)

// recipeHook hears of an event of some recipe, as tracing.New's does.
type recipeHook struct{ idle }

func (recipeHook) SomethingHappened() {}

var _ = framework.NewHookKind[interface{ SomethingHappened() }]()

// One who wraps a hook in a struct, to change one method, must not lose without a
// word what the hook hears of.
func TestHookThatHidesEventsIsRefused(t *testing.T) {
	srv := zktest.Start(t)
	type hides struct{ clienttrace.Hook }
	type hidesMost struct{ clienttrace.HookEndOperation }
	type shows struct{ recipeHook }
	for name, hook := range map[string]clienttrace.Hook{
		"value": hides{recipeHook{}}, "pointer": &hides{recipeHook{}}, "twice": hides{&hides{recipeHook{}}},
		"but one": hidesMost{recipeHook{}},
	} {
		_, err := framework.New(srv.Addr(), framework.WithHooks(hook))
		require.ErrorIs(t, err, zk.ErrBadArguments, name)
		require.ErrorContains(t, err, "hides that the framework_test.recipeHook in it hears of", name)
	}
	for name, hook := range map[string]clienttrace.Hook{
		"embeds the type": shows{}, "nothing to hide": hidesMost{onlyEnds{}}, "alone": recipeHook{},
	} {
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithHooks(hook))
		require.NoError(t, err, name)
		require.NoError(t, c.Close())
	}
}

// faulty is a hook that was made with an option that cannot be used.
type faulty struct{ idle }

var errFaulty = errors.New("faulty")

func (faulty) Err() error { return errFaulty }

func TestHookThatHearsOfNothingIsRefused(t *testing.T) {
	type misspelt struct{}
	_, err := framework.New("zk1", framework.WithHooks(idle{}, misspelt{}))
	require.ErrorIs(t, err, zk.ErrBadArguments)
	require.ErrorContains(t, err, "misspelt")
	require.ErrorContains(t, err, "has no method for an event")
	_, err = framework.New("zk1", framework.WithHooks(nil))
	requireConfigError(t, err, "hook")
	_, err = framework.New("zk1", framework.WithHooks(faulty{}, misspelt{}))
	require.Equal(t, errFaulty, err)
}
