package fencegrpc_test

import (
	"context"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gocurator/curator/contrib/fencegrpc"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/locks"
)

// The holder of a lock makes a call. A call of the former holder, which was on its way,
// arrives later. The service refuses it.
func Example() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	mutex := locks.NewInterProcessMutex(client, "/locks/register")

	lock := func(_ context.Context, method string, _ any) string {
		if method == "/test.Register/Write" {
			return "/locks/register" // the lock that guards the resource
		}
		return "" // other calls need no token
	}
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(fencegrpc.UnaryServer(&fence.Guard{}, lock)))
	server.RegisterService(&desc, writer(func(ctx context.Context, value string) error {
		lease, _ := fence.FromContext(ctx) // a database would compare the token again
		fmt.Printf("%q is written under a lease: %v\n", value, lease.FencingToken() > 0)
		return nil
	}))
	go server.Serve(listener)
	defer server.Stop()
	conn, err := grpc.NewClient("passthrough:register", grpc.WithChainUnaryInterceptor(fencegrpc.UnaryClient),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	write := func(ctx context.Context, value string) {
		err := conn.Invoke(ctx, "/test.Register/Write", wrapperspb.String(value), &wrapperspb.StringValue{})
		fmt.Println(status.Code(err) == codes.OK, errors.Is(fencegrpc.ErrorOf(err), fence.ErrStale))
	}

	paused, err := mutex.Acquire(ctx)
	if err != nil {
		panic(err)
	}
	token, err := fence.Outgoing(paused.Context()) // what UnaryClient sends
	if err != nil {
		panic(err)
	}
	onItsWay := metadata.AppendToOutgoingContext(ctx, "fencing-token", token)
	if err := srv.Delete(paused.Path()); err != nil { // as an operator does
		panic(err)
	}
	<-paused.Context().Done()
	next, err := mutex.Acquire(ctx)
	if err != nil {
		panic(err)
	}
	write(next.Context(), "second")
	write(onItsWay, "late")
	// Output:
	// "second" is written under a lease: true
	// true false
	// false true
}
