package fencesql_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/fence/fencehttp"
)

func TestStore(t *testing.T) {
	db := newDatabase(t)
	store := guards.Store(db)
	require.NoError(t, store.Raise(t.Context(), "/lock", held(5)))
	require.NoError(t, store.Raise(t.Context(), "/lock", held(7)))
	require.NoError(t, store.Raise(t.Context(), "/lock", held(7)))
	require.EqualError(t, store.Raise(t.Context(), "/lock", held(6)), "stale fencing token: 6 of /lock/of-g, after 7 of /lock/of-h")
	require.NoError(t, store.Raise(t.Context(), "/other", held(1)))
	require.ErrorIs(t, guards.Within(t.Context(), db, held(6), "/lock", nil), fencesql.ErrStale, "the row is that of Within")
	require.ErrorIs(t, store.Raise(t.Context(), "/lock", lost(8)), errLost)
}

// A service checks the token of its caller at the entrance, and again in the write. A
// request is admitted, and paused until the request of the next holder is done.
//
// Promise: a service that passes its caller's lease to Within writes nothing for a holder
// whose successor has written, even for a request that was admitted before.
func TestWithinForACaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(t)
		admitted, goOn := make(chan struct{}), make(chan struct{})
		write := func(w http.ResponseWriter, r *http.Request) {
			value := r.URL.Query().Get("value")
			if value == "late" {
				close(admitted)
				<-goOn
			}
			lease, _ := fence.FromContext(r.Context())
			err := guards.Within(r.Context(), db, lease, "register", func(tx *sql.Tx) error {
				_, err := tx.Exec("UPDATE register SET value = ? WHERE id = 1", value)
				return err
			})
			if err != nil {
				w.WriteHeader(http.StatusConflict)
			}
		}
		lock := func(*http.Request) string { return "/lock" }
		service := fencehttp.Handler(guards.Store(db), lock, http.HandlerFunc(write))
		put := func(l lease, value string) int {
			r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/?value="+value, nil)
			r.Header.Set("Fencing-Token", fmt.Sprint(l.token, " ", l.Path()))
			w := httptest.NewRecorder()
			service.ServeHTTP(w, r)
			return w.Code
		}
		late := make(chan int)
		go func() { late <- put(held(5), "late") }()
		<-admitted
		require.Equal(t, http.StatusOK, put(held(6), "second"))
		close(goOn)
		require.Equal(t, http.StatusConflict, <-late)
		require.Equal(t, "second", value(t, db))
	})
}
