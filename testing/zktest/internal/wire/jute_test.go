package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCodecRoundTrip(t *testing.T) {
	e := &Encoder{}
	acl := []ACL{{Perms: PermAll, ID: ID{Scheme: "world", ID: "anyone"}}}
	e.Int32(7)
	e.Int64(-8)
	e.Bool(true)
	e.String("path")
	e.Buffer(nil)
	e.Buffer([]byte{})
	e.Strings([]string{"a", ""})
	e.ACLs(acl)
	e.Stat(Stat{Czxid: 1, Version: -1, Pzxid: 9})
	d := &Decoder{Buf: e.Buf}
	require.EqualValues(t, 7, d.Int32())
	require.EqualValues(t, -8, d.Int64())
	require.True(t, d.Bool())
	require.Equal(t, "path", d.String())
	require.Nil(t, d.Buffer())
	require.Equal(t, []byte{}, d.Buffer())
	require.Equal(t, []string{"a", ""}, d.Strings())
	require.Equal(t, acl, d.ACLs())
	require.Equal(t, Stat{Czxid: 1, Version: -1, Pzxid: 9}, d.Stat())
	require.NoError(t, d.Err)
	require.Empty(t, d.Buf)
}

func TestDecoderStaysAtItsFirstError(t *testing.T) {
	d := &Decoder{Buf: []byte{0, 0, 0, 9, 1, 2, 3}}
	require.Empty(t, d.String())
	require.Zero(t, d.Int32())
	require.False(t, d.Bool())
	require.ErrorIs(t, d.Err, ErrMalformed)
}

// Some clients write the empty string, and Java the empty vector, as null.
func TestDecoderTakesNullForEmpty(t *testing.T) {
	d := &Decoder{Buf: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}
	require.Empty(t, d.String())
	require.Empty(t, d.Strings())
	require.NoError(t, d.Err)
}

func TestMillis(t *testing.T) {
	require.EqualValues(t, 1, Millis(1))
	require.EqualValues(t, 1500, Millis(1500*time.Millisecond))
	require.EqualValues(t, 1<<31-1, Millis(1000*time.Hour))
}
