//go:build real

package processes

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/zkserver"
)

// The libraries that a replica migrates with.
const (
	withGolangMigrate = "golang-migrate"
	withGoose         = "goose"
)

// works is what a replica does when it starts.
var works = map[string]func(ctx context.Context, self *self) error{
	withGolangMigrate: upWithGolangMigrate,
	withGoose:         upWithGoose,
}

// command turns the program of tests into a replica.
const command = "replica"

func TestMain(m *testing.M) {
	if len(os.Args) < 4 || os.Args[1] != command {
		leaktest.Main(m, closePostgres, zkserver.CloseShared)
		return
	}
	if err := replica(os.Args[2], works[os.Args[3]], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
