//go:build real

package zkserver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Another server of this package answers on the port. The answer alone must not
// count.
func TestStartIsNotFooledByAnotherServer(t *testing.T) {
	t.Parallel()
	srv := Shared(t)
	impostor := &Server{member: srv.member, files: layout{"/nowhere/zkserver-other"}}
	require.ErrorIs(t, impostor.checkServing(withTimeout(t, time.Minute)), errPortTaken)
}
