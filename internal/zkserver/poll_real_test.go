//go:build real

package zkserver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAProbeThatHangsDoesNotHoldUpTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		probes := 0
		require.NoError(t, poll(t.Context(), nil, func(ctx context.Context) error {
			if probes++; probes == 1 {
				<-ctx.Done()
			}
			return ctx.Err()
		}))
		require.Less(t, time.Since(began), 300*time.Millisecond)
	})
}

func TestProbesGetMoreTimeIfTheyHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slow = 3 * time.Second // the time of an answer
		require.NoError(t, poll(withTimeout(t, time.Minute), nil, func(ctx context.Context) error {
			select {
			case <-time.After(slow):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}))
	})
}
