package proto

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/jute"
)

func TestDescribe(t *testing.T) {
	for _, tc := range []struct {
		request    Request[Nothing]
		name, path string
	}{
		{described(GetData("/a", true)), "getData", "/a"},
		{described(Create(NewNode{Path: "/a", Mode: ModeContainer})), "createContainer", "/a"},
		{described(MultiRead("/a", "/b")), "multiRead", "/a"},
		{described(Delete("/a", 1)), "delete", "/a"},
		{Request[Nothing]{Op: OpSetWatches, Append: func(b []byte) []byte { return append(b, 1, 2, 3) }}, "setWatches", ""},
	} {
		name, path := Describe(tc.request.Op, tc.request.Append(nil))
		require.Equal(t, tc.name, name)
		require.Equal(t, tc.path, path)
	}
	name, path := Describe(OpGetData, nil)
	require.Equal(t, "getData", name)
	require.Empty(t, path)
}

func TestCountWatches(t *testing.T) {
	payload := make([]byte, 8) // the zxid
	for _, paths := range [][]string{{"/a", "/b"}, nil, {"/a"}} {
		payload = jute.AppendInt32(payload, int32(len(paths)))
		for _, path := range paths {
			payload = jute.AppendString(payload, path)
		}
	}
	require.Equal(t, 3, CountWatches(payload))
	require.Zero(t, CountWatches(nil))
}

func described[T any](q Request[T]) Request[Nothing] {
	return Request[Nothing]{Op: q.Op, Append: q.Append}
}
