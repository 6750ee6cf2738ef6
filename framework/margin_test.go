package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

func TestSafetyMarginIsAPartOfTheNegotiatedTimeout(t *testing.T) {
	for fraction, trusted := range map[float64]time.Duration{
		0:    4 * time.Second,
		0.1:  3600 * time.Millisecond,
		0.25: 3 * time.Second,
		0.5:  2 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := zktest.Start(t, zktest.WithSessionTimeouts(time.Second, 4*time.Second))
			c := newClient(t, srv, framework.WithSessionTimeout(time.Minute), framework.WithSafetyMargin(fraction))
			s, err := c.Session(t.Context())
			require.NoError(t, err)
			require.Equal(t, 4*time.Second-trusted, s.SafetyMargin())
			begin := time.Now()
			srv.BlackholeAll()
			<-s.Context().Done()
			require.Equal(t, trusted, time.Since(begin))
			require.Equal(t, 4*time.Second-trusted, s.SafetyMargin(), "also afterwards")
		})
	}
}

// A session that is given up sooner than its client asks for a sign of life
// would not live at all.
func TestIdleSessionLivesWithTheLargestSafetyMargin(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithSafetyMargin(0.5))
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		srv.Inject(zktest.Rule{Op: zkinside.OpPing, Times: -1, Do: zktest.DelayReply(sessionTimeout / 7)})
		time.Sleep(time.Hour)
		require.NoError(t, s.Context().Err())
	})
}
