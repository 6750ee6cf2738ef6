package curatorz_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gocurator/curator/debug/curatorz"
	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
)

// A service serves the page on the port where it serves net/http/pprof. An
// operator looks at it with a browser or with curl.
func ExampleHandler() {
	client, _, done := exampletest.Connect(framework.WithServiceName("orders"))
	defer done()

	mux := http.NewServeMux()
	mux.Handle("/debug/curatorz", curatorz.Handler(client))
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

// A program asks for JSON, which is a snapshot.Snapshot.
func ExampleHandler_json() {
	client, _, done := exampletest.Connect(framework.WithServiceName("orders"))
	defer done()

	answer := httptest.NewRecorder()
	curatorz.Handler(client).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/?format=json", nil))
	var s snapshot.Snapshot
	if err := json.NewDecoder(answer.Body).Decode(&s); err != nil {
		panic(err)
	}
	for _, c := range s.Clients {
		fmt.Printf("%s is %s and holds %d locks\n", c.Service, c.State.Name, c.Holds.Total)
	}
	// Output: orders is connected and holds 0 locks
}
