package framework_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A server answers that the session is over, or at another server. That is about the
// connection: the client ends it, and the handshake of the next one tells what is
// true.
func TestAnswerThatTheSessionIsElsewhereEndsTheConnection(t *testing.T) {
	for name, code := range map[string]zktest.Code{"expired": zkinside.ErrSessionExpired, "moved": zkinside.ErrSessionMoved} {
		for _, lives := range []bool{true, false} {
			for _, op := range []string{"get", "existsW", "set", "transaction repeated", "sync"} {
				bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
					mustCreate(t, c, "/n", "")
					s, err := c.Session(t.Context())
					require.NoError(t, err)
					refusals := srv.Inject(zktest.Rule{Session: s.ID(), Path: "/n", Times: -1, Do: zktest.Fail(code)})
					srv.Inject(zktest.Rule{Op: zktest.OpConnect, Do: zktest.Call(func(zktest.Request) {
						refusals.Remove()
						if !lives {
							srv.Session(s.ID()).Expire()
						}
					})})
					begin := time.Now()
					require.NoError(t, everyOperation(c)[op](t.Context(), "/n"), "%s, %s", name, op)
					require.Equal(t, 1, refusals.Hits(), "%s, %s", name, op)
					require.Less(t, time.Since(begin), 2*time.Second)
					require.Equal(t, lives, c.SessionID() == s.ID(), "%s, %s", name, op)
					require.Equal(t, lives, s.Context().Err() == nil, "%s, %s", name, op)
				})
			}
		}
	}
}
