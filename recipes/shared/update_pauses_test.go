package shared_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Somebody else is always first, because the function takes longer than the
// longest pause. The pauses grow nevertheless.
func TestPausesOfAnUpdateGrowHoweverLongItsFunctionTakes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		n := w.count(t, w.Observer, "/n", 0)
		var pauses []time.Duration
		var returned time.Time
		_, err := n.Update(w.Patience(t), func(old int32) (int32, error) {
			if !returned.IsZero() {
				pauses = append(pauses, time.Since(returned))
			}
			time.Sleep(5 * time.Second)
			returned = time.Now()
			if len(pauses) == 9 {
				return 100, nil
			}
			return 100, w.Fake.Set("/n", bytesOf(old+1))
		})
		require.NoError(t, err)
		require.Equal(t, []time.Duration{0, 10 * time.Millisecond, 20 * time.Millisecond}, pauses[:3])
		require.Equal(t, time.Second, pauses[8])
	})
}
