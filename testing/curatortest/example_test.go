package curatortest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
)

// The test checks that work stops when its lock is lost.
func Example() {
	test := func(t *testing.T) {
		srv, client := curatortest.Start(t)
		mutex := locks.NewInterProcessMutex(client, "/locks/report")
		err := mutex.Do(t.Context(), func(ctx context.Context) error {
			srv.Session(client.SessionID()).Expire()
			<-ctx.Done() // the work
			return context.Cause(ctx)
		})
		if !errors.Is(err, framework.ErrSessionLost) {
			t.Error(err)
		}
	}
	_ = test
}
