package lockloop

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What a refused try has seen of the holder is of use for a second. The error, which
// may have a cause of the caller's, is of none.
func TestRefusalIsForgottenWhenItIsOfNoUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Loop
		l.noteRefusal(NotAdmitted{Seen: time.Now(), Holder: "lock-0000000000", Err: errors.New("of the caller's")})
		require.Equal(t, NotAdmitted{Seen: time.Now(), Holder: "lock-0000000000"}, l.refused.Load().seen)
		time.Sleep(looksLast)
		require.Nil(t, l.LookFirst(t.Context()), "it has to queue")
		require.Nil(t, l.refused.Load())
	})
}
