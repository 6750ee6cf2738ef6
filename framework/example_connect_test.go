package framework_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A service connects when it starts. The error of a failed Connect has the reason.
func ExampleConnect() {
	srv, err := zktest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	inProcess := framework.WithDialer(srv.Dialer()) // a service needs no such option

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, err := framework.Connect(ctx, srv.Addr(), inProcess)
	if err != nil {
		panic(err)
	}
	defer client.Close()
	fmt.Println(client.State())

	srv.RefuseConnections(true) // from now on, new clients find no server
	ctx, cancel = context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err = framework.Connect(ctx, srv.Addr(), inProcess) // the error says why the last attempt failed
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// Connected
	// true
}
