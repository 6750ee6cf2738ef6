//go:build real

package databases

import (
	"fmt"
	"os"
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
)

// command turns the program of tests into a holder.
const command = "holder"

func TestMain(m *testing.M) {
	if len(os.Args) != 5 || os.Args[1] != command {
		leaktest.Main(m, closeServers)
		return
	}
	if err := hold(os.Args[2], kindOf(os.Args[3]), os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
