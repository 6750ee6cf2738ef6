//go:build real

package zktest_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/testing/zktest"
)

func TestProgramReadsItsConfiguration(t *testing.T) {
	srv := zktest.Start(t)
	if err := srv.Create("/config", []byte("v1")); err != nil {
		t.Fatal(err)
	}
	conn, _, err := zk.Connect([]string{srv.Addr()}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if data, _, err := conn.Get("/config"); err != nil || string(data) != "v1" {
		t.Fatal(string(data), err)
	}
}
