package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const begin = `alice has the lock, and reads a balance of 100.
alice's machine is suspended. Her session times out.
bob has the lock, and reads a balance of 100.
bob writes the new balance, and pays out.
alice's machine resumes, still without a network. Her lease has not ended yet.
`

// Promise: the database refuses the write of a holder whose machine was suspended until
// its successor had written. Without the fence, the database accepts the same write.
func TestStory(t *testing.T) {
	for name, tt := range map[string]struct {
		unfenced bool
		end      string
	}{
		"fenced": {false, `alice writes the new balance. The database refuses: the fencing token is stale.
The account had 100. 60 was paid out, and 40 is left: 0 is lost.
`},
		"unfenced": {true, `alice writes the new balance, and pays out.
The account had 100. 120 was paid out, and 40 is left: 60 is lost.
`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				require.NoError(t, run(t.Context(), &out, tt.unfenced))
				require.Equal(t, begin+tt.end, out.String())
			})
		})
	}
}

// Promise: the database refuses the write of a former holder once its successor has
// claimed the row, before the successor has written the balance.
func TestStaleTellerIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, srv := t.Context(), zktest.Start(t)
		db, err := openBank(ctx)
		require.NoError(t, err)
		defer db.Close()
		host := srv.NewHost()
		first := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
		stale, err := locks.NewInterProcessMutex(first, "/lock").Acquire(ctx)
		require.NoError(t, err)
		host.Isolate()
		require.NoError(t, host.Suspend(time.Minute))
		lease, err := locks.NewInterProcessMutex(curatortest.Connect(t, srv), "/lock").Acquire(ctx)
		require.NoError(t, err)
		bob := teller{"bob", db, false, func(int) error {
			require.ErrorIs(t, teller{name: "alice", db: db}.update(ctx, stale, "balance = ?", 0), fencesql.ErrStale)
			return nil
		}}
		require.NoError(t, bob.withdraw(ctx, lease, amount))
		left, err := read(ctx, db)
		require.NoError(t, err)
		require.Equal(t, opening-amount, left)
		host.Heal()
	})
}
