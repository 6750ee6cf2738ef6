package framework_test

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// failingDials answers every dial with an error, at once.
func failingDials(err error) framework.Option {
	return framework.WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, err })
}

var refusedDial = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}

// A server that is down must be told from one that is slow, also by callers who
// wait for less time than the client.
func TestOperationsTellWhyThereIsNoConnection(t *testing.T) {
	for name, limit := range map[string]time.Duration{
		"the caller waits for less time": 2 * time.Second,
		"the client waits for less time": time.Hour,
	} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			c := newClient(t, srv, failingDials(refusedDial), framework.WithConnectionTimeout(5*time.Second))
			for op, call := range everyOperation(c) {
				err := call(within(t, limit), "/n")
				require.ErrorIs(t, err, syscall.ECONNREFUSED, "%s, %s", op, name)
				require.ErrorIs(t, err, framework.ErrNotConnected, "%s, %s", op, name)
				require.True(t, framework.IsConnectionError(err), "%s, %s", op, name)
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown, "%s, %s", op, name)
				require.Equal(t, limit < 5*time.Second, errors.Is(err, context.DeadlineExceeded), "%s, %s: %v", op, name, err)
				var dial *net.OpError
				require.ErrorAs(t, err, &dial)
			}
			err := c.WaitConnected(within(t, time.Second))
			require.ErrorIs(t, err, syscall.ECONNREFUSED)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.True(t, framework.IsConnectionError(err))
		})
	}
}

// In net, the error of a dial that took too long matches
// context.DeadlineExceeded. It was not the caller's.
func TestTimeoutOfADialIsNotTheCallersDeadline(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		slow := &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}
		c := newClient(t, srv, failingDials(slow), framework.WithConnectionTimeout(time.Second))
		_, _, err := c.Get(t.Context(), "/")
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.True(t, framework.IsConnectionError(err))
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		require.True(t, timeout.Timeout())
	})
}
