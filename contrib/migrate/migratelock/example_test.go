package migratelock_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/stub"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"github.com/gocurator/curator/contrib/migrate/migratelock"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

var migrations = fstest.MapFS{
	"1_orders.up.sql": {Data: []byte("CREATE TABLE orders (id INT)")},
	"2_prices.up.sql": {Data: []byte("ALTER TABLE orders ADD price INT")},
}

// A replica migrates its database when it starts. The database of this example is in
// memory; a service would call postgres.WithInstance, for example.
func Example() {
	ctx := context.Background()
	client, done := connectExample()
	defer done()

	driver, err := migratelock.Open(ctx, client, "/migrations/orders", func() (database.Driver, error) {
		return new(stub.Stub).Open("")
	})
	if err != nil {
		panic(err)
	}
	files, err := iofs.New(migrations, ".")
	if err != nil {
		panic(err)
	}
	m, err := migrate.NewWithInstance("iofs", files, "stub", driver)
	if err != nil {
		panic(err)
	}
	defer m.Close()
	if err := m.Up(); err != nil {
		panic(err)
	}
	version, dirty, _ := m.Version()
	fmt.Println(version, dirty)
	// Output: 2 false
}

// connectExample returns a client of a server in this process. A service would
// name its ensemble instead: framework.New("zk1:2181,zk2:2181,zk3:2181").
func connectExample() (client *framework.Client, done func()) {
	srv, err := zktest.Run()
	if err != nil {
		panic(err)
	}
	client, err = framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	return client, func() { client.Close(); srv.Close() }
}
