// Registry is a service of four processes that find each other in ZooKeeper, and
// call each other over HTTP. Meanwhile, one process drains, one leaves, one is cut off
// from ZooKeeper, and one is killed with kill -9. No call fails.
//
//	go run ./examples/registry
//
// The part to copy is service.go: a discovery.Registration, a Directory, and a
// Picker that learns the result of each call.
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

// link is the cable of this process, if it is an instance, and dialed the option
// with which its client uses it.
var (
	link   cable
	dialed = framework.WithDialer(link.dial)
)

func main() {
	demo.RunIfWorker(runWorker, dialed)
	demo.Main("registry", runStory)
}

// runWorker is an instance of the service.
func runWorker(ctx context.Context, name string, client *framework.Client) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	s := newService(client, nil)
	defer within(s.close)
	if err := s.open(name, *listener.Addr().(*net.TCPAddr)); err != nil {
		return err
	}
	server := http.Server{Handler: s.handler(&link)}
	go server.Serve(listener)
	defer within(func(ctx context.Context) { server.Shutdown(ctx) })
	// The instance leaves before it stops answering.
	defer within(s.leave)
	return s.run(ctx)
}

// within gives a clean-up some time.
func within(cleanUp func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cleanUp(ctx)
}
