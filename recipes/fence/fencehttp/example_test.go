package fencehttp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/fence/fencehttp"
	"github.com/gocurator/curator/recipes/locks"
)

// inMemory is the network of the example: the handler answers each request at once.
type inMemory struct{ http.Handler }

func (n inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	n.ServeHTTP(w, r)
	return w.Result(), nil
}

// The first holder of a lock sends a request, and loses the lock while the request is on
// its way. The request arrives after the next holder's. The service refuses it.
func Example() {
	first, srv, done := exampletest.Connect()
	defer done()
	second, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	defer second.Close()

	accounts := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		lease, _ := fence.FromContext(r.Context()) // a database would compare the token again
		fmt.Println("the account is written under a lease:", lease.FencingToken() > 0)
	})
	mux := http.NewServeMux()
	mux.Handle("POST /accounts/{id}", fencehttp.Handler(&fence.Guard{}, func(r *http.Request) string {
		return "/locks/accounts/" + r.PathValue("id") // the lock that guards the resource
	}, accounts))
	client := &http.Client{Transport: fencehttp.Transport(inMemory{mux})}
	post := func(ctx context.Context, header string) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://bank/accounts/7", strings.NewReader("-10"))
		if err != nil {
			panic(err)
		}
		if header != "" {
			request.Header.Set("Fencing-Token", header)
		}
		response, err := client.Do(request)
		if err != nil {
			panic(err)
		}
		defer response.Body.Close()
		stale := fencehttp.ErrorOf(response) // matches fence.ErrStale
		fmt.Println(response.Status, "stale:", stale != nil)
	}

	ctx := context.Background()
	paused, err := locks.NewInterProcessMutex(first, "/locks/accounts/7").Acquire(ctx)
	if err != nil {
		panic(err)
	}
	onItsWay, err := fence.Outgoing(paused.Context()) // what Transport sends
	if err != nil {
		panic(err)
	}

	srv.Session(first.SessionID()).Expire() // the servers end the session
	next, err := locks.NewInterProcessMutex(second, "/locks/accounts/7").Acquire(ctx)
	if err != nil {
		panic(err)
	}
	post(next.Context(), "")
	post(ctx, onItsWay)
	post(ctx, "")
	// Output:
	// the account is written under a lease: true
	// 200 OK stale: false
	// 409 Conflict stale: true
	// 428 Precondition Required stale: false
}
