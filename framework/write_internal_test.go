package framework

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A transaction has failed as a whole, also if the error of its operation would
// say of a single request that nobody knows its outcome.
//
// Promise: A transaction whose error does not match ErrOutcomeUnknown changed nothing.
func TestTransactionThatFailedIsNotInDoubt(t *testing.T) {
	s := &Session{link: transport.NewLink(transport.Config{})}
	s.client = &Client{core: &core{session: s}}
	for _, err := range []error{zk.ErrSessionMoved, zk.ErrConnectionClosed} {
		send := func(err error, _ context.Context, _ *Session) (int, error) { return 0, err }
		w := write[error, int]{of: &TxnError{Err: err}, send: send, onLostReply: lookUp}
		_, failed := w.request(t.Context(), s)
		require.ErrorIs(t, failed, err)
		require.Nil(t, w.doubt)
		w.onLostReply = giveUp
		_, failed = w.request(t.Context(), s)
		require.NotErrorIs(t, failed, ErrOutcomeUnknown)

		w.of = err
		_, failed = w.request(t.Context(), s)
		require.ErrorIs(t, failed, ErrOutcomeUnknown, "of a single request")
	}
}
