//go:build real && unix

package interop_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A process in Java that stands still does not hear of the end of its session,
// and does not leave the checker. The next leader is right all the same, since
// the server has ended that session. Busy machines do this without signals.
func TestLeaderInJavaThatStandsStillIsOver(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		e := newElection(t, srv, selector, shortSession, inJavaProcess, inGo)
		e.requireAgreement()
		java := e.candidates[0].(javaCandidate)
		require.Equal(t, java, e.awaitLeader())
		token := e.markOver()
		require.NoError(t, java.peer.process.Process.Signal(syscall.SIGSTOP))
		next := e.awaitLeader()
		require.NoError(t, java.peer.process.Process.Signal(syscall.SIGCONT))

		require.Equal(t, e.candidates[1], next)
		require.Equal(t, []int64{token}, e.checker.lateLeaders())
		e.requireAgreement()
		e.end()
	})
}
