package jute

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsWrittenReadsTheSame(t *testing.T) {
	b := AppendInt32(nil, -7)
	b = AppendInt64(b, 1<<40)
	b = append(b, 1, 0)
	b = AppendString(b, "/a")
	b = AppendString(b, "")
	b = AppendBuffer(b, nil)
	b = AppendBuffer(b, []byte{})
	b = AppendBuffer(b, []byte{1, 2})
	b = append(b, "rest"...)

	r := NewReader(b)
	require.EqualValues(t, -7, r.Int32())
	require.EqualValues(t, 1<<40, r.Int64())
	require.True(t, r.Bool())
	require.False(t, r.Bool())
	require.Equal(t, "/a", r.String())
	require.Equal(t, "", r.String())
	require.Nil(t, r.Buffer())
	require.Equal(t, []byte{}, r.Buffer())
	require.Equal(t, []byte{1, 2}, r.Buffer())
	require.Equal(t, "rest", string(r.Rest()))
	require.False(t, r.Bad())
}

func TestImpossibleLengthsAreBad(t *testing.T) {
	for name, read := range map[string]func(*Reader){
		"int beyond the end":     func(r *Reader) { r.take(2); r.Int32() },
		"long beyond the end":    func(r *Reader) { r.Int64() },
		"bool beyond the end":    func(r *Reader) { r.take(4); r.Bool() },
		"buffer beyond the end":  func(r *Reader) { r.Buffer() },
		"negative skip":          func(r *Reader) { r.take(-1) },
		"more elements than fit": func(r *Reader) { r.Count(4) },
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(AppendInt32(nil, 5))
			read(r)
			require.True(t, r.Bad())
			require.Zero(t, r.Int32(), "a bad reader returns zero values")
			require.Zero(t, r.Count(1))
			require.Empty(t, r.String())
		})
	}
	r := NewReader(AppendInt32(AppendInt32(nil, -1), -2))
	require.Zero(t, r.Count(1), "null")
	require.False(t, r.Bad())
	r.Count(1)
	require.True(t, r.Bad())
}
