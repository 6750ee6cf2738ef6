package zkwatcher_test

import (
	"fmt"

	"github.com/casbin/casbin/v3"
	"github.com/casbin/casbin/v3/model"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"

	zkwatcher "github.com/gocurator/curator/contrib/casbin"
)

// instanceOf is a process that enforces the policy of a database. It counts its
// loads, which a service need not do.
func instanceOf(srv *zktest.Server, db *table) (e *casbin.SyncedEnforcer, loaded <-chan struct{}, done func()) {
	// A service would name its ensemble:
	// framework.New("zk1:2181,zk2:2181,zk3:2181").
	client, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	m, err := model.NewModelFromString(accessModel)
	if err != nil {
		panic(err)
	}
	e, err = casbin.NewSyncedEnforcer(m, db)
	if err != nil {
		panic(err)
	}
	loads := make(chan struct{}, 10)
	watcher, err := zkwatcher.New(client, "/casbin/policy", func() error {
		defer func() { loads <- struct{}{} }()
		return e.LoadPolicy()
	})
	if err != nil {
		panic(err)
	}
	if err := e.SetWatcher(watcher); err != nil {
		panic(err)
	}
	<-loads // the one at the beginning
	return e, loads, func() { watcher.Close(); client.Close() }
}

// What one instance allows, the other one allows, too.
func ExampleNew() {
	srv, err := zktest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	database := &table{}
	one, _, done := instanceOf(srv, database)
	defer done()
	other, loaded, done := instanceOf(srv, database)
	defer done()

	before, _ := other.Enforce("alice", "report", "read")
	if _, err := one.AddPolicy("alice", "report", "read"); err != nil {
		panic(err)
	}
	<-loaded
	after, _ := other.Enforce("alice", "report", "read")
	fmt.Println(before, after)
	// Output: false true
}
