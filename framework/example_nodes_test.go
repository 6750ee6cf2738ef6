package framework_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/internal/zkinside"
)

func ExampleClient_Delete_withChildren() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	if _, err := client.Create(ctx, "/carts/7/items/sku-42", nil, framework.WithParents()); err != nil {
		panic(err)
	}

	err := client.Delete(ctx, "/carts/7", framework.AnyVersion)
	fmt.Println(errors.Is(err, zk.ErrNotEmpty))
	err = client.Delete(ctx, "/carts/7", framework.AnyVersion, framework.WithChildren())
	fmt.Println(err)
	err = client.Delete(ctx, "/carts/7", framework.AnyVersion, framework.WithChildren(), framework.WithMissingOK())
	fmt.Println(err)
	// Output:
	// true
	// <nil>
	// <nil>
}

// A service stays registered as long as it runs, through lost sessions.
func ExampleSession() {
	client, srv, done := exampletest.Connect(framework.WithSessionTimeout(time.Second))
	defer done()
	ctx := context.Background()

	// register returns the session in which the service is registered.
	register := func() (*framework.Session, error) {
		for {
			node, err := client.Create(ctx, "/services/shop-1", []byte("10.0.0.1:80"),
				framework.WithParents(), framework.WithMode(framework.Ephemeral))
			if !errors.Is(err, zk.ErrNodeExists) {
				return node.Session, err
			}
			exists, _, watch, err := client.ExistsW(ctx, "/services/shop-1") // the last session's: it will go
			if err != nil {
				return nil, err
			}
			if exists {
				watch.Wait(ctx)
			}
			watch.Stop()
		}
	}
	var last *framework.Session
	for range 2 {
		session, err := register()
		if err != nil {
			panic(err)
		}
		fmt.Println("registered in a new session:", session != last)
		last = session
		zkinside.Of(srv).ReplaceSession(session.ID()) // a loss after which the old session's node stays for a while
		srv.CutAll()
		<-session.Context().Done()
	}
	// Output:
	// registered in a new session: true
	// registered in a new session: true
}
