package curatorz_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gocurator/curator/debug/curatorz"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/locks"
)

// A service serves the page on the port where it serves net/http/pprof. An
// operator looks at it with a browser or with curl.
func Example() {
	debug := curatorz.New()
	client, _, done := exampletest.Connect(framework.WithServiceName("orders"), framework.WithHooks(debug))
	defer done()
	_ = client // a program: framework.New(servers, framework.WithHooks(debug))

	mux := http.NewServeMux()
	mux.Handle("/debug/curatorz", debug)
	// A service: http.ListenAndServe("127.0.0.1:6060", mux)

	page := httptest.NewRecorder() // curl http://127.0.0.1:6060/debug/curatorz
	mux.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/debug/curatorz", nil))
	lines := bufio.NewScanner(page.Body)
	for lines.Scan() {
		if lines.Text() == "  no holds" {
			fmt.Println("orders holds nothing")
		}
	}
	// Output: orders holds nothing
}

// The text is for people, for example in the log of a failed test. The example prints
// only the locks, because all other lines have times.
func ExamplePage_WriteText() {
	page := curatorz.New()
	client, _, done := exampletest.Connect(framework.WithServiceName("orders"), framework.WithHooks(page))
	defer done()
	ctx := context.Background()
	lease, err := locks.NewInterProcessMutex(client, "/locks/sku-42").Acquire(ctx)
	if err != nil {
		panic(err)
	}
	defer lease.Release(ctx)

	var text strings.Builder // a program: os.Stderr
	if err := page.WriteText(&text); err != nil {
		panic(err)
	}
	_, holds, _ := strings.Cut(text.String(), "  holds: ")
	number, holds, _ := strings.Cut(holds, "\n")
	_, holds, _ = strings.Cut(holds, "\n") // without the heads of the columns
	fmt.Println("holds:", number, strings.Fields(holds)[:2])
	// Output: holds: 1 [/locks/sku-42 mutex]
}
