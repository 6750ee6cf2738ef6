package framework_test

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
)

// The loop reads the whole folder at a Reset, and then each node that changes.
func ExampleClient_Watch() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	srv.Create("/config", nil)
	srv.Create("/config/limit", []byte("10"))

	for ev, err := range client.Watch(ctx, "/config", framework.WithRecursion()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if ev.Reset {
			names, _, _ := client.Children(ctx, ev.Path)
			fmt.Println("look:", names)
			srv.Set("/config/limit", []byte("20"))
			continue
		}
		data, _, err := client.Get(ctx, ev.Path)
		fmt.Println(ev.Type, ev.Path, string(data), err)
		break
	}
	// Output:
	// look: [limit]
	// EventNodeDataChanged /config/limit 20 <nil>
}
