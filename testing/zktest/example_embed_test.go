package zktest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/testing/zktest"
)

// register is the program: a service that announces itself as ephemeral nodes,
// one per port.
func register(conn *zk.Conn, ports ...int) error {
	for _, port := range ports {
		path := fmt.Sprintf("/services/%s-%d", filepath.Base("/usr/bin/shop"), port)
		if _, err := conn.Create(path, fmt.Append(nil, port), zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			return fmt.Errorf("register port %d: %w", port, err)
		}
	}
	return nil
}

// A program embeds a server, so users can try the program without a ZooKeeper. The
// server needs no port; other processes can connect if it has [zktest.WithTCP].
func Example_embedded() {
	srv, err := zktest.Run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer srv.Close()
	if err := srv.Create("/services", nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	conn, end := dial(srv)
	fmt.Println(register(conn, 8080, 8081), srv.Children("/services"))
	fmt.Println(register(conn, 8080))
	end() // the session ends with the client, and the nodes with the session
	err = srv.WaitFor(context.Background(), func() bool { return len(srv.Sessions()) == 0 })
	fmt.Println(err, srv.Children("/services"))
	// Output:
	// <nil> [shop-8080 shop-8081]
	// register port 8080: zk: node already exists
	// <nil> []
}
