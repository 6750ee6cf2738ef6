package kerberos_test

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/contrib/kerberos"
	"github.com/gocurator/curator/framework"
)

// This is what README tells people to write.
var _ = createOrders

func createOrders(ctx context.Context) error {
	mechanism, err := kerberos.New(kerberos.Config{
		Principal: "orders@EXAMPLE.COM",
		Keytab:    "/etc/orders.keytab",
	})
	if err != nil {
		return err
	}
	client, err := framework.New("zk1.example.com,zk2.example.com", framework.WithSASL(mechanism))
	if err != nil {
		return err
	}
	defer client.Close()
	onlyOrders := []zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: mechanism.Principal()}}
	_, err = client.Create(ctx, "/orders", nil, framework.WithACL(onlyOrders))
	return err
}
