package start

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/examples/start/internal/fleet"
	"github.com/gocurator/curator/testing/zktest"
)

// The process follows the settings, and ignores what is no JSON.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		srv := zktest.Start(t)
		require.NoError(t, srv.Create("/settings", []byte(`{"Workers":8}`)))
		for i, data := range []string{"eight", `{"Workers":16}`} {
			time.AfterFunc(time.Duration(i+1)*time.Second, func() { _ = srv.Set("/settings", []byte(data)) })
		}
		out := fleet.Run(ctx, t, srv, 1, run)
		require.Regexp(t, `^workers: 8\nkeeping the last settings: decode /settings: .*\nworkers: 16\n$`, out)
	})
}
