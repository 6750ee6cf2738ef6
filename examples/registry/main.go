// Registry is a service of three processes that find each other in ZooKeeper,
// and call each other over HTTP. One drains, one is cut off from ZooKeeper, and
// one is killed with kill -9 meanwhile. No call fails.
//
//	go run ./examples/registry
//
// The part to copy is service.go: a discovery.Registration, a Directory, and a
// Picker that is told how each call has ended.
//
// The exit status is 0 if all went as described, 1 if not or if something
// failed, and 2 for wrong arguments.
package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
)

// link is the cable of this process, if it is an instance.
var link cable

func main() {
	runIfWorker()
	demo.Main("registry", runStory)
}

func runIfWorker() { demo.RunIfWorker(runWorker, framework.WithDialer(link.dial)) }

// runWorker is an instance of the service.
func runWorker(ctx context.Context, name string, client *framework.Client) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	s := newService(client, nil)
	defer leave(s.close)
	if err := s.open(name, *listener.Addr().(*net.TCPAddr)); err != nil {
		return err
	}
	server := http.Server{Handler: s.handler(&link)}
	go server.Serve(listener)
	defer leave(func(ctx context.Context) { server.Shutdown(ctx) })
	// It deregisters before it stops to answer.
	defer leave(s.close)
	return s.run(ctx)
}

// leave gives a clean-up some time.
func leave(cleanUp func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cleanUp(ctx)
}
