package httpsd_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/discovery/httpsd"
)

func ExampleHandler() {
	client, srv, done := exampletest.Connect()
	defer done()
	srv.Create("/services/orders/web-1", []byte(`{"name":"orders","id":"web-1","address":"10.0.0.7","port":8080}`))
	all, err := discovery.NewServices(client, "/services", discovery.CuratorCodec())
	if err != nil {
		panic(err)
	}
	defer all.Close()
	if err := all.WaitSynced(context.Background()); err != nil { // a service need not wait
		panic(err)
	}
	answer := httptest.NewRecorder() // a service: http.Handle("/targets", httpsd.Handler(all))
	httpsd.Handler(all).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/targets", nil))
	fmt.Print(answer.Body)
	// Output:
	// [{"targets":["10.0.0.7:8080"],"labels":{"__meta_zookeeper_disabled":"false","__meta_zookeeper_id":"web-1","__meta_zookeeper_service":"orders"}}]
}
