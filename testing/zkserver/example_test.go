package zkserver_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/gocurator/curator/testing/zkserver"
)

// A program, or a TestMain whose tests share a server, starts it with Run.
func ExampleRun() {
	srv, err := zkserver.Run(zkserver.WithTick(50*time.Millisecond), zkserver.WithProperty("snapCount", "1000"))
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	watches, err := srv.Watches(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(srv.Addr(), "has", watches, "watches")
}

// What a client makes of the loss of the leader.
func ExampleRunEnsemble() {
	ensemble, err := zkserver.RunEnsemble(3)
	if err != nil {
		log.Fatal(err)
	}
	defer ensemble.Close()
	leader, err := ensemble.Leader(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("connect to", ensemble.ConnectString(), "and see", leader.Addr(), "fail")
	if err := leader.Kill(); err != nil {
		log.Fatal(err)
	}
}
