package tracing_test

import (
	"context"
	"crypto/tls"
	"log"
	"log/slog"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/tracing"
)

// This is the client of docs/PRODUCTION.md.
func Example_production() {
	var (
		ctx       = context.Background()
		tlsConfig = &tls.Config{ServerName: "zk.example.com", MinVersion: tls.VersionTLS13}
		password  = "secret"
	)
	client, err := framework.Connect(ctx, "zk1:2281,zk2:2281,zk3:2281/shop",
		framework.WithTLS(tlsConfig),
		framework.WithAuth("digest", []byte("shop:"+password)),
		framework.WithACLProvider(func(string) []zk.ACL { return zk.AuthACL(zk.PermAll) }),
		framework.WithServiceName("orders"),
		framework.WithLogger(slog.Default()),
		framework.WithHooks(tracing.New()),
	)
	if err != nil {
		log.Print(err)
		return
	}
	defer client.Close()
}
