package suspects_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/suspects"
	"github.com/gocurator/curator/framework/internal/transport"
)

// A connection that ends when the answer to a container has begun is no sign that
// the server does not know containers, but that it does.
func TestContainerWhoseAnswerHasBegunIsNoHangUp(t *testing.T) {
	var x suspects.Suspects
	container := transport.Unanswered{
		Request: transport.Request{Op: proto.OpCreateContainer, Payload: func(b []byte) []byte { return b }}, Held: time.Minute,
	}
	begun := container
	begun.Taken = true
	for range 2 * suspects.Many {
		require.Nil(t, x.EndedWith([]transport.Unanswered{begun}))
	}
	require.False(t, x.EndContainers())
	for range suspects.Many {
		x.EndedWith([]transport.Unanswered{container})
	}
	require.True(t, x.EndContainers())
	x.EndedWith([]transport.Unanswered{begun})
	require.False(t, x.EndContainers())
}
