package main

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

const (
	base    = "/services" // a common base of Java Curator's users
	service = "greeter"   // the name of the service
)

// greeter is an instance of the service.
type greeter struct {
	client   *framework.Client
	server   *grpc.Server
	instance *discovery.Registration
}

// newGreeter starts an instance, and registers the instance once it listens.
func newGreeter(ctx context.Context, servers, name string) (*greeter, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &greeter{server: grpc.NewServer()}
	g.server.RegisterService(&desc, name)
	go g.server.Serve(listener) // it returns when the server is stopped
	if g.client, err = framework.Connect(ctx, servers); err != nil {
		g.server.Stop()
		return nil, err
	}
	at := listener.Addr().(*net.TCPAddr)
	g.instance, err = discovery.NewRegistration(g.client, base, discovery.SpringCodec(), discovery.Instance{
		Service: service, ID: name, Address: at.IP.String(), Port: at.Port,
	})
	if err == nil {
		_, err = g.instance.WaitRegistered(ctx)
	}
	if err != nil {
		g.kill()
		return nil, err
	}
	return g, nil
}

// kill ends the instance without deregistration, as if the process had crashed. The
// node exists until the client is closed.
func (g *greeter) kill() {
	g.server.Stop()
	g.client.Close()
}

// desc has one method. A real program would use generated code.
var desc = grpc.ServiceDesc{
	ServiceName: "example.Greeter", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Greet", Handler: greet}},
}

// greet answers with the name of the instance.
//
//nolint:revive // gRPC prescribes the order
func greet(name any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	return wrapperspb.String(name.(string)), decode(&emptypb.Empty{})
}
