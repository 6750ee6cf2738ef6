package codec_test

import (
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
