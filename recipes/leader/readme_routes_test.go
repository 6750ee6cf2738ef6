package leader_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// routes adds what Kubernetes asks for: readiness, and a preStop hook that hands the
// leadership over.
func routes(mux *http.ServeMux, client *framework.Client, latch *leader.Latch) {
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if now := client.State(); !now.IsConnected() {
			http.Error(w, now.String(), http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /handover", func(w http.ResponseWriter, r *http.Request) {
		err := latch.HandOver(r.Context()) // waits until the work has stopped
		if errors.Is(err, leader.ErrNotLeader) || errors.Is(err, leader.ErrNoSuccessor) {
			return
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
}

// The preStop hook returns when the work has stopped and another candidate can lead.
// A candidate that does not lead, or has no successor, answers at once.
func TestRoutesOfProduction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost()
		client := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
		latch, err := leader.NewLatch(client, "/leaders/billing")
		require.NoError(t, err)
		defer latch.Shutdown(t.Context())
		mux := http.NewServeMux()
		routes(mux, client, latch)
		get := func(path string) int {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			return w.Code
		}
		leading := make(chan struct{}, 1)
		var cause error
		go latch.Lead(t.Context(), func(ctx context.Context) error {
			leading <- struct{}{}
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil
		})
		<-leading
		require.Equal(t, http.StatusOK, get("/ready"))
		require.Equal(t, http.StatusOK, get("/handover"), "there is no successor")
		require.NoError(t, cause)

		other, err := leader.NewLatch(curatortest.Connect(t, srv), "/leaders/billing")
		require.NoError(t, err)
		defer other.Shutdown(t.Context())
		synctest.Wait()
		require.Equal(t, http.StatusOK, get("/handover"))
		require.ErrorIs(t, cause, locks.ErrRevoked)
		_, err = other.WaitLeadership(t.Context())
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, get("/handover"), "this candidate does not lead")

		host.Disconnect()
		synctest.Wait()
		require.Equal(t, http.StatusServiceUnavailable, get("/ready"))
		host.Heal()
		require.NoError(t, client.WaitConnected(t.Context()))
	})
}
