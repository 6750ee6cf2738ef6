package zktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWallClockIsWrittenIntoNodes(t *testing.T) {
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	srv := Start(t, WithWallClock(func() time.Time { return at }))
	require.NoError(t, srv.Create("/a", nil))
	at = at.Add(time.Hour)
	require.NoError(t, srv.Set("/a", []byte("b")))
	n, _ := srv.Node("/a")
	require.Equal(t, at.Add(-time.Hour).UnixMilli(), n.Stat.Ctime)
	require.Equal(t, at.UnixMilli(), n.Stat.Mtime)
	_, err := Run(WithWallClock(nil))
	require.ErrorContains(t, err, "nil clock")
}
