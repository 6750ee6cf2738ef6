//go:build real

package framework_test

import (
	"testing"

	"github.com/gocurator/curator/testing/zktest"
)

func TestNoWakeUpIsLostInRealTime(t *testing.T) {
	srv := zktest.Start(t)
	noWakeUpIsLost(t, srv, newClient(t, srv), 2000)
}
