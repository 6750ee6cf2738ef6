package hooks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/hooks"
)

type (
	hookBegun interface{ Begun(name string) }
	hookEnded interface{ Ended(name string) }
)

var begun, ended = hooks.Register[hookBegun](), hooks.Register[hookEnded]()

type beginner struct{ names *[]string }

func (b beginner) Begun(name string) { *b.names = append(*b.names, name) }

type both struct{ beginner }

func (b both) Ended(string) {}

func TestEachHookIsAskedByItself(t *testing.T) {
	var names []string
	l := hooks.NewList([]any{beginner{&names}, both{beginner{&names}}, "has no method"})
	for range 2 { // found, and found again
		require.Len(t, begun.Of(l), 2)
		require.Len(t, ended.Of(l), 1)
	}
	for _, h := range begun.Of(l) {
		h.Begun("a")
	}
	require.Equal(t, []string{"a", "a"}, names)
	require.Empty(t, begun.Of(hooks.NewList(nil)))
}

func TestHookThatIsNeverCalled(t *testing.T) {
	require.True(t, hooks.IsCalled(beginner{}))
	require.True(t, hooks.IsCalled(both{}))
	require.False(t, hooks.IsCalled(nil))
	require.False(t, hooks.IsCalled("has no method"))
}

func TestKindsAreFoundWithoutAllocations(t *testing.T) {
	l := hooks.NewList([]any{both{}})
	begun.Of(l)
	require.Zero(t, testing.AllocsPerRun(100, func() { begun.Of(l) }))
}
