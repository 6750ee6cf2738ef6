//go:build real

package zkserver_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"time"

	"github.com/gocurator/curator/internal/zkserver"
)

// A program, or a TestMain whose tests share a server, starts it with Run.
func ExampleRun() {
	srv, err := zkserver.Run(
		zkserver.WithTick(50*time.Millisecond),
		zkserver.WithProperty("snapCount", "1000"))
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	watches, err := srv.WatchCount(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(srv.Addr(), "has", watches, "watches")
}

// A test kills the leader to see how a client reacts.
func ExampleRunEnsemble() {
	ensemble, err := zkserver.RunEnsemble(3)
	if err != nil {
		log.Fatal(err)
	}
	defer ensemble.Close()
	leader, err := ensemble.WaitLeader(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("connect to", ensemble.ConnectString(), "and see", leader.Addr(), "fail")
	if err := leader.Kill(); err != nil {
		log.Fatal(err)
	}
}

// A test cuts a follower off from its leader to see how a client reacts. The
// follower still answers its clients for a while.
func ExampleEnsemble_Partition() {
	ensemble, err := zkserver.RunEnsemble(3,
		zkserver.WithLinks(),
		zkserver.WithSyncLimit(10)) // a second
	if err != nil {
		log.Fatal(err)
	}
	defer ensemble.Close()
	leader, err := ensemble.WaitLeader(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, follower := range ensemble.Members() {
		if follower != leader {
			fmt.Println("connect to", follower.Addr(), "and see it lose touch")
			if err := ensemble.Partition(follower); err != nil {
				log.Fatal(err)
			}
			break
		}
	}
}

// A client needs the certificate to connect.
func ExampleWithTLS() {
	srv, err := zkserver.Run(zkserver.WithTLS(tls.RequireAndVerifyClientCert))
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	conn, err := tls.Dial("tcp", srv.TLSAddr(), srv.ClientTLS())
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	fmt.Println("connected to", conn.RemoteAddr())
}
