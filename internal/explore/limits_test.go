package explore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLimitsThatAreAskedFor(t *testing.T) {
	own := Limits{Deviations: 2, Schedules: 60}
	l, err := own.asked("400")
	require.NoError(t, err)
	require.Equal(t, Limits{Deviations: 2, Schedules: 400}, l)
	l, err = own.asked("10m")
	require.NoError(t, err)
	require.Equal(t, Limits{Deviations: 2, Time: 10 * time.Minute}, l)
	_, err = own.asked("long")
	require.Error(t, err)
}
