//go:build unix

package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// Promise: a teller's write is refused if another teller has claimed the account since,
// whether the other one has written the balance before or writes it afterwards.
func TestStaleTellerIsRefused(t *testing.T) {
	for name, afterItsClaim := range map[string]bool{"after its write": false, "between its claim and its write": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				db := newBank(t)
				teller := func(name string, client *framework.Client, decide func(int)) teller {
					return teller{name, locks.NewInterProcessMutex(client, "/lock"), db, false, decide}
				}
				first, second := curatortest.Connect(t, srv), curatortest.Connect(t, srv)
				var alicesErr error
				finishAlice := make(chan struct{})
				aliceHasEnded := make(chan struct{})
				alice := teller("alice", first, func(int) {
					require.True(t, srv.Session(first.SessionID()).Expire())
					<-finishAlice
				})
				go func() {
					defer close(aliceHasEnded)
					alicesErr = alice.withdraw(context.Background(), amount)
				}()
				synctest.Wait() // until she decides
				letAliceWrite := func() {
					close(finishAlice)
					<-aliceHasEnded
				}
				bob := teller("bob", second, func(int) {
					if afterItsClaim {
						letAliceWrite()
					}
				})
				require.NoError(t, bob.withdraw(t.Context(), amount))
				if !afterItsClaim {
					letAliceWrite()
				}
				require.ErrorIs(t, alicesErr, fencesql.ErrStale)
				var balance int
				require.NoError(t, db.QueryRow("SELECT balance FROM account").Scan(&balance))
				require.Equal(t, opening-amount, balance)
			})
		})
	}
}

func newBank(t *testing.T) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "bank.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.Exec(schema, opening)
	require.NoError(t, err)
	return db
}
