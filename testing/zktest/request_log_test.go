package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequestLogForgetsTheOldest(t *testing.T) {
	srv := Start(t)
	for i := range defaultLogSize + 3 {
		srv.log.add(Request{Xid: int32(i), Op: OpSync}, defaultLogSize)
	}
	log := srv.Requests()
	require.Len(t, log, defaultLogSize)
	require.EqualValues(t, 3, log[0].Xid)
	require.EqualValues(t, defaultLogSize+2, log[defaultLogSize-1].Xid)
	require.Equal(t, defaultLogSize+3, srv.CountRequests(OpSync))
}
