package zktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
)

func TestWallClockIsWrittenIntoNodes(t *testing.T) {
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	srv := Start(t, zkinside.With(zkinside.Settings{WallClock: func() time.Time { return at }}).(Option))
	require.NoError(t, srv.Create("/a", nil))
	at = at.Add(time.Hour)
	require.NoError(t, srv.Set("/a", []byte("b")))
	n, _ := srv.Node("/a")
	require.Equal(t, at.Add(-time.Hour).UnixMilli(), n.Stat.Ctime)
	require.Equal(t, at.UnixMilli(), n.Stat.Mtime)
}
