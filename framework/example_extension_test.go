package framework_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/retry"
)

// keepNode is a small recipe: it keeps an ephemeral node for as long as the
// client is open, and re-creates the node in each session.
func keepNode(client *framework.Client, path string) {
	ext := framework.Extend(client)
	always := func(error) bool { return true }
	ext.Go(func(ctx context.Context) {
		for ctx.Err() == nil {
			var node framework.Created
			retry.Do(ctx, retry.Forever(time.Second), always, func(ctx context.Context) (err error) {
				node, err = ext.Create(ctx, path, []byte(ext.ServiceName()), framework.WithMode(framework.Ephemeral))
				if err != nil {
					ext.Logger().Warn("node not created", "path", ext.FullPath(path), "cause", err)
				}
				return err
			})
			if node.Session != nil { // otherwise the client is closed
				<-node.Session.Context().Done()
			}
		}
	})
}

func ExampleExtend() {
	client, srv, done := exampletest.Connect(framework.WithServiceName("tickets"))
	defer done()
	ctx := context.Background()
	keepNode(client, "/here")
	srv.WaitFor(ctx, func() bool { _, found := srv.Node("/here"); return found })

	srv.Session(client.SessionID()).Expire() // the node goes with it
	srv.WaitFor(ctx, func() bool { _, found := srv.Node("/here"); return found })
	data, _, _ := client.Get(ctx, "/here")
	fmt.Printf("%s\n", data)
	// Output: tickets
}
