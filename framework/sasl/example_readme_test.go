package sasl_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/sasl"
)

// The client authenticates as the user shop, and its nodes are for shop alone.
func ExampleDigestMD5() {
	ctx, password := context.Background(), os.Getenv("SHOP_PASSWORD")
	client, err := framework.Connect(ctx, "zk1:2181,zk2:2181,zk3:2181/shop",
		framework.WithSASL(sasl.DigestMD5("shop", password)), // user_shop="..." in the section Server
		framework.WithACLProvider(func(string) []zk.ACL {
			return []zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: "shop"}}
		}),
	)
	if err != nil {
		log.Fatal(err) // names the mechanism, the principal and the server's code
	}
	defer client.Close()
	fmt.Println(client.SessionID())
}
