package datatree

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidPath(t *testing.T) {
	for _, path := range []string{"/", "/a", "/a/b", "/a.b", "/...", "/ä", "/a b", "/_c_x-lock-0000000001"} {
		require.True(t, ValidPath(path), "%q", path)
	}
	for _, path := range []string{
		"", "a", "a/b", "//", "/a/", "/a//b", "/.", "/..", "/a/./b", "/a/../b", "/\x00", "/\x01", "/\x1f",
		"/\x7f", "/\u009f", "/\ue000", "/\uf8ff", "/\ufff0", "/\U0001f600", "/\xff",
	} {
		require.False(t, ValidPath(path), "%q", path)
	}
}
