//go:build real

package curatorz

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
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

// Somebody who is on call sees at once who waits, also in a process that holds
// 1,000 locks, and finds one lock among them.
func TestPageOfAThousandLocksInABrowser(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(serve(func(path string) snapshot.Snapshot {
		asked = append(asked, path)
		return crowd(path)
	}))
	defer srv.Close()
	b := startBrowser(t)
	b.screen(1200, 800, "light")
	b.load(srv.URL + "/?format=html")
	require.Less(t, eval[float64](b, "document.querySelector('#client-1-waits tbody').getBoundingClientRect().top"), 800.0, "on the first screen")
	require.Equal(t, 100, eval[int](b, "document.querySelectorAll('#client-1-holds tbody tr').length"))

	eval[int](b, "document.querySelector('#client-1 nav a[href$=watches]').click(), 0")
	require.Equal(t, "#client-1-watches", eval[string](b, "location.hash"))

	// Its own policy lets the form go only to the page itself.
	eval[int](b, "document.querySelector('input[type=search]').value = 'lock & 7', document.querySelector('button').click(), 0")
	b.await("Page.loadEventFired")
	require.Equal(t, "lock & 7", eval[string](b, "document.querySelector('input[type=search]').value"))
	require.Equal(t, []string{"", "lock & 7"}, asked)
	require.Empty(t, b.logged)
}

// A page that asks for it loads itself again.
func TestPageRefreshesItselfInABrowser(t *testing.T) {
	srv := httptest.NewServer(serve(fixture))
	defer srv.Close()
	b := startBrowser(t)
	b.load(srv.URL + "/?format=html&refresh=1")
	b.await("Page.loadEventFired")
	require.Equal(t, "stop", eval[string](b, "document.querySelector('nav a').innerText"))
}
