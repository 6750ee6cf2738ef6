package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func requireMultiHeader(t *testing.T, d *wire.Decoder, op wire.Op, code wire.Code) {
	t.Helper()
	require.Equal(t, op, wire.Op(d.Int32()))
	require.Equal(t, op == wire.OpError && code == wire.ErrEnd, d.Bool())
	require.Equal(t, code, wire.Code(d.Int32()))
}
