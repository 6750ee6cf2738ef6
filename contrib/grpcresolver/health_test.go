package grpcresolver_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// A backend that says that it does not serve gets no calls, and gets them again
// when it serves, over the same connection. The import of package health, here
// for the servers, is what a client needs.
func TestWhoDoesNotServeIsLeftOut(t *testing.T) {
	const not, does = grpc_health_v1.HealthCheckResponse_NOT_SERVING, grpc_health_v1.HealthCheckResponse_SERVING
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		var checks []*health.Server
		for i, address := range []string{here, there} {
			server, check := newServer("orders"), health.NewServer()
			check.SetServingStatus("orders", does)
			grpc_health_v1.RegisterHealthServer(server, check)
			n.serveBy(t, address, server, func() (string, error) { return address, nil })
			w.put(t, replica(string(rune('a'+i)), i+1))
			checks = append(checks, check)
		}
		const config = `{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": "orders"}}`
		conn := dial(t, &n, w.builder(), orders, grpc.WithDefaultServiceConfig(config))
		require.Len(t, connected(t, conn), 2)
		dials := n.dials.Load()
		checks[0].SetServingStatus("orders", not)
		synctest.Wait()
		require.Equal(t, map[string]bool{there: true}, everyone(t, conn))
		checks[1].SetServingStatus("orders", not)
		synctest.Wait()
		_, err := ask(t.Context(), conn)
		require.ErrorContains(t, err, "NOT_SERVING")
		checks[0].SetServingStatus("orders", does)
		synctest.Wait()
		require.Equal(t, map[string]bool{here: true}, everyone(t, conn))
		checks[1].SetServingStatus("orders", does)
		synctest.Wait()
		require.Len(t, everyone(t, conn), 2)
		require.Equal(t, dials, n.dials.Load())
	})
}
