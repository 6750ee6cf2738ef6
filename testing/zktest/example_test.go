package zktest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/testing/zktest"
)

// dial connects go-zookeeper to a server. The second result ends the client.
func dial(srv *zktest.Server) (conn *zk.Conn, end func()) {
	conn, events, err := zk.Connect([]string{srv.Addr()}, 10*time.Second,
		zk.WithLogger(silent{}),
		zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
			return srv.Dialer()(context.Background(), network, address)
		}))
	if err != nil {
		log.Fatal(err)
	}
	return conn, func() {
		conn.Close()
		for range events {
		}
	}
}

// A program can embed a server; a test would call [zktest.Start] instead.
func Example() {
	srv, err := zktest.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	conn, end := dial(srv)
	defer end()

	path, err := conn.Create("/job-", []byte("hello"), zk.FlagSequence, zk.WorldACL(zk.PermAll))
	fmt.Println(path, err)
	node, found := srv.Node(path)
	fmt.Println(string(node.Data), found)
	// Output:
	// /job-0000000000 <nil>
	// hello true
}

// The reply to a create is lost: the node exists, and the client does not know it.
func ExampleServer_Inject() {
	srv, err := zktest.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	conn, end := dial(srv)
	defer end()

	srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/locks*", Do: zktest.DropReply()})
	_, err = conn.Create("/locks", nil, 0, zk.WorldACL(zk.PermAll))
	fmt.Println("lost:", errors.Is(err, zk.ErrConnectionClosed))
	_, created := srv.Node("/locks")
	fmt.Println("created:", created)
	// Output:
	// lost: true
	// created: true
}

// The ephemeral nodes of a client are deleted when its session expires.
func ExampleSession_Expire() {
	srv, err := zktest.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	conn, end := dial(srv)
	defer end()

	_, err = conn.Create("/leader", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	fmt.Println(srv.Children("/"), err)
	fmt.Println(srv.Session(conn.SessionID()).Expire(), srv.Children("/"))
	// Output:
	// [leader zookeeper] <nil>
	// true [zookeeper]
}

// A function runs in the middle of a request: another client creates the node first.
func ExampleCall() {
	srv, err := zktest.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	conn, end := dial(srv)
	defer end()

	srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Call(func(r zktest.Request) {
		_ = srv.Create(r.Path, []byte("theirs"))
	})})
	_, err = conn.Create("/claim", []byte("mine"), 0, zk.WorldACL(zk.PermAll))
	fmt.Println(err)
	// Output: zk: node already exists
}

// A write survives the loss of the leader.
func ExampleStartEnsemble() {
	ens, err := zktest.RunEnsemble(3)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ens.Close()
	old := ens.Leader()
	_ = old.Create("/config", []byte("written before"))
	old.Stop()
	if err := ens.WaitFor(context.Background(), func() bool { return ens.Leader() != nil }); err != nil {
		fmt.Println(err)
		return
	}
	leader := ens.Leader()
	node, _ := leader.Node("/config")
	fmt.Printf("member %d after member %d: %s\n", leader.ID(), old.ID(), node.Data)
	// Output: member 2 after member 3: written before
}

// The same seed gives the same faults.
func ExampleWithChaos() {
	srv, err := zktest.Run(zktest.WithChaos(zktest.ChaosPlan{
		Seed:        1,
		Every:       time.Millisecond,
		Disruptions: []zktest.Disruption{{Kind: "stop", For: time.Millisecond}, {Kind: "pause", For: time.Millisecond}},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(srv.WaitFor(ctx, func() bool { return srv.Stats().Mode == "paused" }))
	// Output: <nil>
}
