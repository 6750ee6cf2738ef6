package codec_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/codec"
)

func TestBytesAreCopied(t *testing.T) {
	c := codec.Bytes()
	original := []byte("abc")
	data, err := c.Encode(original)
	require.NoError(t, err)
	value, err := c.Decode(data)
	require.NoError(t, err)
	original[0], data[1] = 'x', 'x'
	require.Equal(t, "abc", string(value))
}

// A count has the bytes of Java's ByteBuffer.putInt.
func TestInt32(t *testing.T) {
	c := codec.Int32()
	for n, want := range map[int32][]byte{
		7:             {0, 0, 0, 7},
		-2:            {0xff, 0xff, 0xff, 0xfe},
		math.MinInt32: {0x80, 0, 0, 0},
	} {
		data, err := c.Encode(n)
		require.NoError(t, err)
		require.Equal(t, want, data)
		got, err := c.Decode(data)
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	for _, bad := range []string{"", "123", "12345"} {
		_, err := c.Decode([]byte(bad))
		require.ErrorContains(t, err, "a count has 4 bytes")
	}
}

func TestDecodeErrorIsMadeSafeToShow(t *testing.T) {
	why := errors.New("no value")
	err := &codec.DecodeError{Path: "/r/\u202egpj.exe", Err: why}
	require.EqualError(t, err, `decode "/r/\u202egpj.exe": no value`)
	require.ErrorIs(t, err, why)
}

func TestJSON(t *testing.T) {
	type limits struct{ Workers int }
	c := codec.JSON[limits]()
	data, err := c.Encode(limits{4})
	require.NoError(t, err)
	require.JSONEq(t, `{"Workers": 4}`, string(data))
	v, err := c.Decode(data)
	require.NoError(t, err)
	require.Equal(t, limits{4}, v)
	for _, bad := range []string{"", "{", "[]"} {
		_, err = c.Decode([]byte(bad))
		require.Error(t, err, bad)
	}
}
