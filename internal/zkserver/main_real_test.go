//go:build real

package zkserver

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/leaktest"
)

// envHelper turns the test program into the helper of
// TestServerDiesWithProgram.
const envHelper = "ZKSERVER_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(envHelper) != "" {
		runHelper()
		return
	}
	leaktest.Main(m, CloseShared)
}

// runHelper is the program that TestServerDiesWithProgram kills. It starts a
// server, prints its address and waits.
func runHelper() {
	e, err := run(nil, 0, newMembers)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.servers[0].Addr())
	select {}
}

// withTimeout returns a context that ends before the timeout of go test.
func withTimeout(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
