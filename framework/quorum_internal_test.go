package framework

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
)

func TestCheckOfAnotherSessionProvesNothing(t *testing.T) {
	require.NoError(t, committed(proto.MultiAnswer{Failed: -1}))
	require.NoError(t, committed(proto.MultiAnswer{Failed: 0, Code: proto.CodeNoAuth}))
	for code, want := range map[int32]error{
		-112: zk.ErrSessionExpired, -118: zk.ErrSessionMoved, proto.CodeSystemError: &ServerError{proto.CodeSystemError},
	} {
		require.ErrorIs(t, committed(proto.MultiAnswer{Failed: 0, Code: code}), want)
	}
}
