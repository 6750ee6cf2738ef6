package curatorz

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
)

// A page of ten thousand locks takes megabytes while it is made. So a crowd of
// readers waits, and those who have gone get none.
func TestFewPagesAreMadeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most, made atomic.Int64
		h := serve(func(string) snapshot.Snapshot {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			made.Add(1)
			return snapshot.Snapshot{}
		})
		ask := func(ctx context.Context) {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
		}
		gone, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		for range 10 {
			go ask(t.Context())
		}
		synctest.Wait()
		for range 10 {
			go ask(gone)
		}
		time.Sleep(time.Minute)
		require.EqualValues(t, mostAtATime, most.Load())
		require.EqualValues(t, 10, made.Load())
	})
}
