// Package fleet runs the quick starts of docs/START.md as their readers do: several
// processes, each with a client of one ensemble.
package fleet

import (
	"bytes"
	"context"
	"log"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// TB is the part of testing.TB that this package uses.
type TB interface {
	zktest.TB
	Errorf(format string, args ...any)
}

// Run runs n processes until all of them have returned, and returns what they have
// logged, without times. An error that is not the end of ctx fails the test.
func Run(
	ctx context.Context, t TB, srv *zktest.Server, n int, run func(context.Context, *framework.Client) error,
) string {
	var out bytes.Buffer
	log.SetOutput(&out)
	log.SetFlags(0)
	var all sync.WaitGroup
	for range n {
		client := curatortest.Connect(t, srv)
		all.Go(func() {
			if err := run(ctx, client); err != nil && ctx.Err() == nil {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	return out.String()
}
