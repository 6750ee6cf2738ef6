//go:build real

package start_test

import (
	"bytes"
	"context"
	"log"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/grpcresolver/examples/start"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// A call finds the process that serves. It fails, and says why, after that process
// has been told to stop.
func TestCallFindsTheServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	srv := zktest.Start(t)
	client := curatortest.Connect(t, srv)
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- start.Serve(serving, curatortest.Connect(t, srv)) }()
	require.NoError(t, srv.WaitChildren(ctx, "/services/orders", 1))

	var out bytes.Buffer
	log.SetOutput(&out)
	require.NoError(t, run(ctx, client))
	require.Contains(t, out.String(), "orders is SERVING")
	stop()
	require.NoError(t, <-served)
	require.ErrorContains(t, run(ctx, client), "no instance is registered")
}
