package framework_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A server that takes the connection and says nothing holds up nobody for long,
// whether many rounds have failed before or none.
func TestNoAttemptTakesVeryLong(t *testing.T) {
	for name, option := range map[string]framework.Option{
		"connection timeout": framework.WithConnectionTimeout(math.MaxInt64),
		"session timeout":    framework.WithSessionTimeout(24 * time.Hour),
	} {
		for _, failing := range []time.Duration{0, 5 * time.Minute} {
			t.Run(fmt.Sprintf("%s, after %v", name, failing), func(t *testing.T) {
				serverOnly(t, func(t *testing.T, srv *zktest.Server) {
					mute := srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.Blackhole()})
					srv.RefuseConnections(failing > 0)
					c := newClient(t, srv, option)
					time.Sleep(failing)
					srv.RefuseConnections(false)
					time.Sleep(10 * time.Second)
					mute.Remove()
					require.NoError(t, c.WaitConnected(within(t, 2*time.Minute+time.Second)))
				})
			})
		}
	}
}
