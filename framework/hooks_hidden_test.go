package framework_test

import (
	"context"
	"errors"
	"fmt"
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

// Hooks with methods that have the names of events', and are not called.
type (
	halfRight struct{ idleStates }
	allWrong  struct{}
	byPointer struct{ idleStates }
	byChance  struct{ idleStates }
)

type idleStates struct{}

func (idleStates) StateChanged(clienttrace.StateChange) {}

func (halfRight) EndOperation(context.Context, *clienttrace.OperationEnd) {}
func (allWrong) StartOperation(context.Context)                           {}
func (*byPointer) ClientClosed(clienttrace.Client)                        {}
func (byChance) Twice(int)                                                {}

// Two recipes have given their events the same name.
var (
	_ = framework.NewHookKind[interface{ Twice(string) }]()
	_ = framework.NewHookKind[interface{ Twice(int) }]()
)

// A method that has the name of an event's must not be left out without a word.
func TestHookWithAMethodThatIsNotCalledIsRefused(t *testing.T) {
	for want, hook := range map[string]clienttrace.Hook{
		"method EndOperation has the type func(context.Context, *clienttrace.OperationEnd), want func(context.Context, clienttrace.OperationEnd)": halfRight{},
		"method StartOperation has the type func(context.Context), want func(context.Context, clienttrace.Operation) context.Context":             &allWrong{},
		"method ClientClosed has a pointer receiver: pass a pointer":                                                                              byPointer{},
	} {
		_, err := framework.New("zk1", framework.WithHooks(idle{}, hook))
		requireConfigError(t, err, "hook")
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, fmt.Sprintf("%T", hook))
	}
	for _, hook := range []clienttrace.Hook{&byPointer{}, byChance{}} {
		c, err := framework.New("zk1", framework.WithHooks(hook))
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
}
