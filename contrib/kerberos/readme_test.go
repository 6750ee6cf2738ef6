package kerberos_test

import (
	"context"
	"fmt"
	"log"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/contrib/kerberos"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func main() {
	ctx := context.Background()
	mechanism, err := kerberos.New(kerberos.Config{
		Principal: "orders@EXAMPLE.COM",
		Keytab:    "/etc/orders.keytab",
	})
	if err != nil {
		log.Fatal(err)
	}
	orders := []zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: mechanism.Principal()}}
	client, err := framework.Connect(ctx, "zk1.example.com:2181,zk2.example.com:2181",
		framework.WithSASL(mechanism),
		framework.WithACLProvider(func(string) []zk.ACL { return orders }))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lease, err := locks.NewInterProcessMutex(client, "/orders/lock").Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("locked by", mechanism.Principal())
	if err := lease.Release(ctx); err != nil {
		log.Fatal(err)
	}
}

// The program needs a KDC.
func Example() { main() }
