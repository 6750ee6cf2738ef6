package framework

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/znode"
)

// validToJava is PathUtils.validatePath, as literally as can be: on the UTF-16
// units of a Java string.
func validToJava(path string) bool {
	c := utf16.Encode([]rune(path))
	n := len(c)
	if n == 0 || c[0] != '/' {
		return false
	}
	if n == 1 {
		return true
	}
	if c[n-1] == '/' {
		return false
	}
	ends := func(i int) bool { return i+1 == n || c[i+1] == '/' }
	for i := 1; i < n; i++ {
		switch {
		case c[i] == '/' && c[i-1] == '/':
			return false
		case c[i] == '.' && c[i-1] == '.' && c[i-2] == '/' && ends(i):
			return false
		case c[i] == '.' && c[i-1] == '/' && ends(i):
			return false
		case c[i] <= 0x1f, c[i] >= 0x7f && c[i] <= 0x9f, c[i] >= 0xd800 && c[i] <= 0xf8ff, c[i] >= 0xfff0:
			return false
		}
	}
	return true
}

func FuzzValidatePath(f *testing.F) {
	for _, path := range []string{
		"", "a", "/", "/a", "/a/", "//", "/a//b", "/.", "/..", "/...", "/a/./b", "/a/../b", "/a.b", "/.a", "/a..", "/a b", "/zürich",
		"/a\x00b", "/a\x1f", "/a\x7f", "/a\u0080", "/a\u009f", "/a\u00a0", "/a\ud7ff", "/a\ue000", "/a\uf8ff", "/\uf900", "/\uffef", "/\ufff0",
		"/\uffff", "/\U0001F600", "/a\xff", "/" + strings.Repeat("x", 2000),
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		valid := ValidatePath(path) == nil
		require.Equal(t, utf8.ValidString(path) && validToJava(path), valid, "%q", path)
		if !valid {
			return
		}
		require.NoError(t, ValidatePath(znode.Join(path, "child")), "a good path has good children")
		for _, chroot := range []string{"", "/app", "/app/a"} {
			c := &Client{chroot: chroot}
			require.NoError(t, ValidatePath(c.full(path)))
			require.Equal(t, path, c.local(c.full(path)), "%q below %q", path, chroot)
		}
		if path != "/" {
			parent, name := znode.Split(path)
			require.NoError(t, ValidatePath(parent))
			require.NotContains(t, name, "/")
			require.Equal(t, path, znode.Join(parent, name))
		}
	})
}
