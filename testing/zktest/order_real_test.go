//go:build real

package zktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Over TCP the reader of a connection answers by itself when it can. That must
// not change the order in which a client sees the transactions: an event comes
// before every answer that knows of its change, and after every other, also
// when answers are delayed.
func TestOrderOverTCP(t *testing.T) {
	srv := Start(t, WithTCP(":0"))
	srv.Inject(Rule{Op: wire.OpGetData, Path: "/late", Times: -1, Do: DelayReply(50 * time.Microsecond)})
	c := dialTCP(t, srv)
	c.handshake(0, hour, 0, nil)
	seen := c.call(wire.OpAddWatch, "/", 1).zxid
	unread, stopped := make(chan struct{}, 20), make(chan struct{}) // one for each event that the client has not got
	stop := make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case unread <- struct{}{}:
			case <-stop:
				return
			}
			if i%2 == 0 {
				_ = srv.Create("/a", nil) // it is there every other time
			} else {
				_ = srv.Delete("/a")
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	paths := []string{"/prompt", "/late", "/prompt", "/prompt"}
	for i := range thorough.Size(2000, 400) {
		xid := c.send(wire.OpGetData, paths[i%len(paths)], false)
		for answered := false; !answered; {
			r := c.receive()
			if r.xid == wire.XidNotification {
				<-unread
				require.Greater(t, r.zxid, seen, "an answer has overtaken an event")
			} else {
				require.GreaterOrEqual(t, r.zxid, seen, "an event has overtaken an answer")
				require.Equal(t, xid, r.xid)
				answered = true
			}
			seen = r.zxid
		}
	}
}
