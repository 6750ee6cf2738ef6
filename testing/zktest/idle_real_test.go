//go:build real

package zktest

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// The same with real goroutines, where nothing else says when they have come to
// rest.
func TestWaitIdleInRealTime(t *testing.T) {
	for name, opts := range map[string][]Option{"in memory": nil, "TCP": {WithTCP("127.0.0.1:0")}} {
		t.Run(name, func(t *testing.T) {
			srv := Start(t, opts...)
			dial := srv.Dialer()
			if len(opts) > 0 {
				dial = (&net.Dialer{}).DialContext
			}
			nc, err := dial(t.Context(), "tcp", srv.Addr())
			require.NoError(t, err)
			c := &raw{t: t, nc: nc}
			t.Cleanup(func() { nc.Close() })
			require.True(t, c.handshake(0, hour, 0, nil))
			for i := range 50 {
				c.send(wire.OpCreate, fmt.Sprintf("/%d", i), []byte{}, datatree.OpenACL, 0)
				if len(opts) > 0 { // what is on its way over TCP is not known
					c.receive()
					continue
				}
				received, ended := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(ended)
					c.receive()
					close(received)
					_, _ = nc.Read(make([]byte, 1)) // until the deadline
				}()
				require.NoError(t, srv.WaitIdle(t.Context()))
				select {
				case <-received:
				default:
					require.Fail(t, "idle before the answer was read")
				}
				require.Len(t, srv.Tree(), i+1)
				require.NoError(t, nc.SetReadDeadline(time.Now()))
				<-ended
				require.NoError(t, nc.SetReadDeadline(time.Time{}))
			}
			if len(opts) > 0 {
				require.NoError(t, srv.WaitIdle(t.Context()))
			}
		})
	}
}
