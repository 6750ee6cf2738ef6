// Package exampletest has helpers that the testable examples of several packages share.
// Only tests import it.
package exampletest

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// Connect returns a client that is connected to a server in this process. A service
// would name its ensemble instead: framework.New("zk1:2181,zk2:2181,zk3:2181"). The
// function done closes both.
func Connect(opts ...framework.Option) (client *framework.Client, srv *zktest.Server, done func()) {
	srv, err := zktest.Run()
	if err != nil {
		panic(err)
	}
	client, err = framework.New(srv.Addr(), append(opts, framework.WithDialer(srv.Dialer()))...)
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := client.WaitConnected(ctx); err != nil {
		panic(err)
	}
	return client, srv, func() {
		client.Close()
		srv.Close()
	}
}
