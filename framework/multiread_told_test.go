package framework_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/testing/zktest"
)

// multiReadsTold counts the multiReads that hooks are told of.
type multiReadsTold struct{ n int }

func (m *multiReadsTold) EndOperation(_ context.Context, end clienttrace.OperationEnd) {
	if end.Name == "multiRead" {
		m.n++
	}
}

// A multiRead that is refused without a request is no operation. Otherwise each
// read of many nodes would have a failed one in its trace. The first one of a
// connection sends the probe.
func TestRefusedMultiReadIsToldOnceAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t, zktest.WithVersion(zktest.Version384))
		var told multiReadsTold
		c := newClient(t, srv, framework.WithHooks(&told))
		require.NoError(t, c.WaitConnected(t.Context()))
		for connections := range 3 {
			for range 5 {
				require.True(t, framework.IsRefusal(readTwo(t, c)))
			}
			require.Equal(t, connections+1, told.n)
			srv.CutAll()
			settled(t, c)
		}
	})
}
