package framework_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/testing/zktest"
)

// noContext is a hook that has no context to return.
type noContext struct{ begun, ended *int }

func (n noContext) StartOperation(context.Context, clienttrace.Operation) context.Context {
	*n.begun++
	return nil
}

func (n noContext) EndOperation(context.Context, clienttrace.OperationEnd) { *n.ended++ }

// A hook that returns no context leaves the operation, and the hooks beside it,
// the one that it was given.
func TestHookMayReturnNoContext(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var seen []string
		var begun, ended int
		none := noContext{&begun, &ended}
		alone := newClient(t, srv, framework.WithHooks(none))
		require.NoError(t, alone.Sync(t.Context(), "/"))
		beside := newClient(t, srv, framework.WithHooks(named{"a", &seen}, none, named{"b", &seen}))
		require.NoError(t, beside.Sync(t.Context(), "/"))
		require.Equal(t, []string{"a sees ab at the end of sync", "b sees ab at the end of sync"}, seen)
		require.Equal(t, 2, begun)
		require.Equal(t, 2, ended)
	})
}
