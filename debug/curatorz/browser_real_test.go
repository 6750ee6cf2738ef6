//go:build real

package curatorz

import (
	"bytes"
	"flag"
	"fmt"
	"image/color"
	"image/png"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var screenshots = flag.String("screenshots", "", "a folder for the screenshots of the page")

// The page in a real browser: it fits a telephone, follows the color scheme of
// the reader, applies its style under its own policy, loads nothing else, and
// runs nothing.
func TestPageInABrowser(t *testing.T) {
	srv := httptest.NewServer(serve(fixture))
	defer srv.Close()
	b := startBrowser(t)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{1200, 360} {
			b.screen(width, 800, scheme)
			b.load(srv.URL + "/?format=html")
			name := fmt.Sprintf("%s-%d", scheme, width)
			require.LessOrEqual(t, eval[int](b, "document.documentElement.scrollWidth"), width, "%s: it must not scroll sideways", name)
			shot := b.screenshot()
			if *screenshots != "" {
				require.NoError(t, os.WriteFile(filepath.Join(*screenshots, name+".png"), shot, 0o644))
			}
			require.Equal(t, scheme == "dark", isDark(t, shot), name)
		}
	}
	require.Equal(t, 3, eval[int](b, "document.querySelectorAll('article').length"))
	require.Equal(t, 0, eval[int](b, "document.scripts.length"))
	require.Equal(t, 0, eval[int](b, "performance.getEntriesByType('resource').length"), "something was loaded")
	require.Equal(t, "rgb(28, 32, 36)", eval[string](b, "getComputedStyle(document.querySelector('article')).backgroundColor"), "the style")
	require.Contains(t, eval[string](b, "document.body.innerText"), "<script>alert(1)</script>", "as text")
	require.Empty(t, b.logged, "complaints of the browser, such as of the policy")
}

// isDark reports whether the page's paper, in the corner, is dark.
func isDark(t *testing.T, shot []byte) bool {
	picture, err := png.Decode(bytes.NewReader(shot))
	require.NoError(t, err)
	corner := picture.At(picture.Bounds().Min.X, picture.Bounds().Min.Y)
	return color.GrayModel.Convert(corner).(color.Gray).Y < 128
}
