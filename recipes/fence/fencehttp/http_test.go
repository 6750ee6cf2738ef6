package fencehttp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/fence/fencehttp"
	"github.com/gocurator/curator/recipes/locks"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// roundTripper is an http.RoundTripper that is the function.
type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// to is a network without sockets, whose only server is a handler. The handler is called
// when the wire, if there is one, has delivered the request.
func to(h http.Handler, wire ...func()) http.RoundTripper {
	return fencehttp.Transport(roundTripper(func(r *http.Request) (*http.Response, error) {
		served := httptest.NewRequest(r.Method, r.URL.String(), r.Body) // the context has none of the client's values
		served.Header = r.Header
		for _, deliver := range wire {
			deliver()
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, served)
		return w.Result(), nil
	}))
}

func lockOf(path string) func(*http.Request) string {
	return func(*http.Request) string { return path }
}

// post sends a value under a context.
func post(ctx context.Context, via http.RoundTripper, value string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://register/", strings.NewReader(value))
	if err != nil {
		return nil, err
	}
	response, err := via.RoundTrip(request)
	if len(request.Header) > 0 {
		err = errors.Join(err, fmt.Errorf("the caller's request has now %v", request.Header))
	}
	return response, err
}

// register is a resource in memory. Its handler pauses before it writes. If the guard
// is there, the handler compares the token again, in the write.
type register struct {
	guard *fence.Guard
	pause func(value string)

	mu    sync.Mutex // protects value
	value string
}

func (s *register) read() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value
}

func (s *register) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	value, _ := io.ReadAll(r.Body)
	if s.pause != nil {
		s.pause(string(value))
	}
	write := func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.value = string(value)
		return nil
	}
	if s.guard == nil {
		_ = write()
		return
	}
	lease, ok := fence.FromContext(r.Context())
	if !ok || s.guard.Do(lease.FencingToken(), write) != nil {
		w.WriteHeader(http.StatusConflict)
	}
}

// problem is the body of an answer.
func problem(t *testing.T, r *http.Response) (fields map[string]any) {
	t.Helper()
	require.Equal(t, "application/problem+json", r.Header.Get("Content-Type"))
	require.NoError(t, json.NewDecoder(r.Body).Decode(&fields))
	return fields
}

// Promise: a service refuses the request of a holder whose successor has made a request
// there, even if that holder was stopped, or its request was delayed on the way.
func TestStaleRequestIsRefused(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		first, _ := w.Connect(t)
		second, _ := w.Connect(t)
		var data register
		service := fencehttp.Handler(&fence.Guard{}, lockOf("/lock"), &data)
		stopped := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(first, "/lock"))
		answer, err := post(stopped.Context(), to(service), "first")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode)

		delivered, late := make(chan struct{}), make(chan *http.Response)
		go func() {
			answer, _ := post(stopped.Context(), to(service, func() { <-delivered }), "late")
			late <- answer
		}()
		synctest.Wait()
		w.Fake.Session(first.SessionID()).Expire()
		next := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(second, "/lock"))
		_, err = post(next.Context(), to(service), "second")
		require.NoError(t, err)
		close(delivered)

		answer = <-late
		require.Equal(t, http.StatusConflict, answer.StatusCode)
		require.Equal(t, "second", data.read())
		err = fencehttp.ErrorOf(answer)
		require.ErrorIs(t, err, fence.ErrStale)
		want := &fence.StaleError{Token: stopped.FencingToken(), Owner: stopped.Path(), NewestToken: next.FencingToken(), NewestOwner: next.Path()}
		require.Equal(t, want, err)
		require.Equal(t, map[string]any{
			"status": 409.0, "title": "Conflict", "detail": want.Error(), "reason": "stale", "lock": "/lock",
			"token": fmt.Sprint(want.Token), "owner": want.Owner, "newestToken": fmt.Sprint(want.NewestToken), "newestOwner": want.NewestOwner,
		}, problem(t, answer))
	})
}

// storeFunc is a Store whose Raise is the function.
type storeFunc func(ctx context.Context, resource string, lease fence.Lease) error

func (f storeFunc) Raise(ctx context.Context, resource string, lease fence.Lease) error {
	return f(ctx, resource, lease)
}

// Promise: a service that wants a token does not handle a request without one, with a
// malformed one, or with the token of another lock, or if the store has failed.
func TestAnswers(t *testing.T) {
	var guard fence.Guard
	broken := storeFunc(func(context.Context, string, fence.Lease) error { return errors.New("password=secret") })
	for name, c := range map[string]struct {
		store   fence.Store
		lock    string
		headers []string
		status  int
		reason  string
	}{
		"admitted":     {&guard, "/lock", []string{"7 /lock/a"}, 200, ""},
		"missing":      {&guard, "/lock", nil, 428, "missing"},
		"empty":        {&guard, "/lock", []string{""}, 400, "malformed"},
		"malformed":    {&guard, "/lock", []string{"7"}, 400, "malformed"},
		"two":          {&guard, "/lock", []string{"7 /lock/a", "8 /lock/b"}, 400, "malformed"},
		"other lock":   {&guard, "/lock", []string{"9 /other/a"}, 409, "other_lock"},
		"broken store": {broken, "/lock", []string{"7 /lock/a"}, 503, ""},
		"not wanted":   {broken, "", nil, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			handled := false
			next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { handled = true })
			r := httptest.NewRequest(http.MethodPost, "/", nil)
			r.Header["Fencing-Token"] = c.headers
			w := httptest.NewRecorder()
			fencehttp.Handler(c.store, lockOf(c.lock), next).ServeHTTP(w, r)
			require.Equal(t, c.status, w.Code)
			require.Equal(t, c.status == 200, handled)
			require.NotContains(t, w.Body.String(), "secret")
			require.NoError(t, fencehttp.ErrorOf(w.Result()))
			if c.status != 200 {
				fields := problem(t, w.Result())
				require.Equal(t, []any{float64(c.status), c.reason, c.lock}, []any{fields["status"], fields["reason"], fields["lock"]})
				require.NotContains(t, fields, "token")
			}
		})
	}
}

// Proxies add, fold and merge headers, and clients write what they like.
func TestHeaderOnTheWire(t *testing.T) {
	for lines, status := range map[string]int{
		"Fencing-Token: 7 /lock/a":                             200,
		"fencing-token:  7 /lock/a\t":                          200,
		"Fencing-Token: 7 /lock/%C3%BC":                        200,
		"Fencing-Token: 7 /lock/a\r\nFencing-Token: 7 /lock/a": 400,
		"Fencing-Token: 7 /lock/a, 7 /lock/a":                  400,
		"Fencing-Token: 7 /lock/a,7 /lock/a":                   400,
		"Fencing-Token: 7 /lock/a,":                            400,
		"Fencing-Token: 7 /lock/a\r\n 8 /lock/b":               400,
		"Fencing-Token: 7\t/lock/a":                            400,
		"Fencing-Token: +7 /lock/a":                            400,
		"Fencing-Token: 9223372036854775808 /lock/a":           400,
		"Fencing-Token: 7 /lock/ü":                             400,
		"Fencing-Token: 7 /lock/a%0d%0aX-Admin: yes":           400,
		"Fencing-Token: 7 /lock/../lock/a":                     400,
		"Fencing-Token: 7 /lock/%2E%2E/lock/a":                 400,
		"Fencing-Token:":                                       400,
		"Fencing_Token: 7 /lock/a":                             428,
		"X-Fencing-Token: 7 /lock/a":                           428,
	} {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("POST / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n\r\n")))
		require.NoError(t, err, lines)
		w := httptest.NewRecorder()
		fencehttp.Handler(&fence.Guard{}, lockOf("/lock"), &register{}).ServeHTTP(w, r)
		require.Equal(t, status, w.Code, lines)
	}
}

// A store may wrap the error of a stale token in others, whose text the client must not see.
func TestAnswerLeavesOutWhatTheStoreSays(t *testing.T) {
	for _, stale := range []error{fence.ErrStale, &fence.StaleError{Token: 7, NewestToken: 9}} {
		store := storeFunc(func(context.Context, string, fence.Lease) error { return fmt.Errorf("password=secret: %w", stale) })
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Fencing-Token", "7 /lock/a")
		w := httptest.NewRecorder()
		fencehttp.Handler(store, lockOf("/lock"), http.NotFoundHandler()).ServeHTTP(w, r)
		require.Equal(t, http.StatusConflict, w.Code)
		require.NotContains(t, w.Body.String(), "secret")
		require.Contains(t, w.Body.String(), stale.Error())
	}
}

// Promise: a request without a lease has no token, a request under a lease that has ended
// is not sent, and a service that calls another one for its caller forwards the token.
func TestTransport(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		var got []http.Header
		store := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Header) })
		_, err := post(t.Context(), to(store), "")
		require.NoError(t, err)
		require.Equal(t, []http.Header{{}}, got)

		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(c, "/lock"))
		service := fencehttp.Handler(&fence.Guard{}, lockOf("/lock"), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = post(r.Context(), to(store), "")
		}))
		_, err = post(lease.Context(), to(service), "")
		require.NoError(t, err)
		require.Equal(t, http.Header{"Fencing-Token": {fmt.Sprint(lease.FencingToken(), " ", lease.Path())}}, got[1])

		require.NoError(t, lease.Release(t.Context()))
		body := &closing{}
		request, err := http.NewRequestWithContext(context.WithoutCancel(lease.Context()), http.MethodPost, "http://store/", body)
		require.NoError(t, err)
		_, err = to(store).RoundTrip(request)
		require.ErrorIs(t, err, locks.ErrReleased)
		require.True(t, body.closed)
		require.Len(t, got, 2)
	})
}

// A request that http.Client has not prepared may lack its header.
func TestTransportOfARequestWithoutAHeader(t *testing.T) {
	var got http.Header
	via := fencehttp.Transport(roundTripper(func(r *http.Request) (*http.Response, error) {
		got = r.Header
		return &http.Response{}, nil
	}))
	_, err := via.RoundTrip((&http.Request{}).WithContext(under(7)))
	require.NoError(t, err)
	require.Equal(t, http.Header{"Fencing-Token": {"7 /lock/of-7"}}, got)
}

// idle is a RoundTripper that has connections to close.
type idle struct {
	http.RoundTripper
	closed int
}

func (i *idle) CloseIdleConnections() { i.closed++ }

func TestIdleConnectionsAreClosed(t *testing.T) {
	base := &idle{}
	(&http.Client{Transport: fencehttp.Transport(base)}).CloseIdleConnections()
	require.Equal(t, 1, base.closed)
	(&http.Client{Transport: fencehttp.Transport(roundTripper(nil))}).CloseIdleConnections()
}

func TestHandlerOfNilPanicsAtOnce(t *testing.T) {
	require.PanicsWithValue(t, "fencehttp: nil store", func() { fencehttp.Handler(nil, lockOf("/lock"), &register{}) })
	require.PanicsWithValue(t, "fencehttp: nil lock function", func() { fencehttp.Handler(&fence.Guard{}, nil, &register{}) })
	require.PanicsWithValue(t, "fencehttp: nil handler", func() { fencehttp.Handler(&fence.Guard{}, lockOf("/lock"), nil) })
}

type closing struct{ closed bool }

func (*closing) Read([]byte) (int, error) { return 0, io.EOF }
func (b *closing) Close() error           { b.closed = true; return nil }

// The check at the entrance leaves a window: a request that was admitted goes on after
// the successor's. A check in the write closes it.
func TestRequestThatWasAdmittedBefore(t *testing.T) {
	for name, c := range map[string]struct {
		guard *fence.Guard
		want  string
	}{"checked at the entrance": {nil, "first"}, "checked in the write": {&fence.Guard{}, "second"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				goOn, over := make(chan struct{}), make(chan struct{})
				data := register{guard: c.guard, pause: func(value string) {
					if value == "first" {
						<-goOn
					}
				}}
				service := to(fencehttp.Handler(&fence.Guard{}, lockOf("/lock"), &data))
				go func() {
					defer close(over)
					_, _ = post(under(7), service, "first")
				}()
				synctest.Wait()
				_, err := post(under(8), service, "second")
				require.NoError(t, err)
				close(goOn)
				<-over
				require.Equal(t, c.want, data.read())
			})
		})
	}
}

// under is a context that is under a lease with a token.
func under(token int64) context.Context {
	ctx, err := fence.Incoming(context.Background(), &fence.Guard{}, "/lock", []string{fmt.Sprintf("%d /lock/of-%[1]d", token)})
	if err != nil {
		panic(err)
	}
	return ctx
}

func TestErrorOfOtherResponses(t *testing.T) {
	for _, body := range []string{
		"", "{", `{"reason": "other_lock", "lock": "/lock"}`, `{"reason": 7, "lock": "/lock"}`, `[]`,
		`{"reason": "stale", "detail": "the ETag of another service"}`,
	} {
		r := conflict(body)
		require.NoError(t, fencehttp.ErrorOf(r), body)
		again, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.Equal(t, body, string(again))
	}
}

// A service in another language may leave members out, or send numbers.
func TestErrorOfAnotherService(t *testing.T) {
	require.Equal(t, &fence.StaleError{}, fencehttp.ErrorOf(conflict(`{"reason": "stale", "lock": "/lock"}`)))
	require.Equal(t, &fence.StaleError{Owner: "/lock/a", NewestToken: 9},
		fencehttp.ErrorOf(conflict(`{"token": 7, "owner": "/lock/a", "newestToken": "9", "reason": "stale", "lock": "/lock"}`)))
}

func conflict(body string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusConflict, Header: http.Header{"Content-Type": {"application/problem+json"}},
		Body: io.NopCloser(strings.NewReader(body)),
	}
}
