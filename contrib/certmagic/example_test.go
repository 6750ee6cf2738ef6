package certmagic_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	certstore "github.com/gocurator/curator/contrib/certmagic"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A process is stopped while it holds a lock, and its session ends. Another process
// stores a newer certificate. A later Store of the first process is refused.
func ExampleStorage() {
	srv, err := zktest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	start := func() (*framework.Client, *certstore.Storage) {
		client, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()),
			framework.WithAuth("digest", []byte("web:secret")))
		if err != nil {
			panic(err)
		}
		storage, err := certstore.New(client, "/certmagic", zk.AuthACL(zk.PermAll))
		if err != nil {
			panic(err)
		}
		return client, storage
	}
	client, first := start()
	defer client.Close()
	other, second := start()
	defer other.Close()
	ctx := context.Background()
	const lock, key = "issue_cert_example.com", "certificates/acme/example.com/example.com.crt"

	fmt.Println(first.Lock(ctx, lock))
	srv.Session(client.SessionID()).Expire()

	fmt.Println(second.Lock(ctx, lock))
	fmt.Println(second.Store(ctx, key, []byte("newer")))

	fmt.Println(errors.Is(first.Store(ctx, key, []byte("late")), certstore.ErrLockLost))
	value, err := second.Load(ctx, key)
	fmt.Println(string(value), err)
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// true
	// newer <nil>
}
