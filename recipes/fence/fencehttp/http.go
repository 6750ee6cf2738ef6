package fencehttp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/fence"
)

const (
	header      = "Fencing-Token"
	contentType = "application/problem+json"
)

// Transport returns a RoundTripper that adds the fencing token of the lease in the
// request's context, and sends the request through base. A nil base means
// http.DefaultTransport.
//
// In the context of a request that Handler has admitted, Transport forwards the caller's
// token. Transport sends a request without a lease unchanged; a server that requires a
// token answers 428. Transport does not send a request under a lease that has ended, and
// the error has the reason.
func Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return transport{base}
}

type transport struct{ base http.RoundTripper }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := fence.Outgoing(r.Context())
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	if text != "" {
		r = r.Clone(r.Context())
		if r.Header == nil {
			r.Header = http.Header{}
		}
		r.Header.Set(header, text)
	}
	return t.base.RoundTrip(r)
}

// CloseIdleConnections is for http.Client.CloseIdleConnections, which does nothing without it.
func (t transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// Handler returns a handler that calls next for requests whose token the store admits,
// and refuses all others; see "The answers" in the package documentation. In the context
// of the request, fence.FromContext finds the caller's lease.
//
// The function lock returns the path of the lock that guards the object of the request,
// as the holders' clients see that path. The function must not take the path from the
// header. If the path is empty, the request needs no token, such as a read, and reaches
// next unchanged and without a check. Handler panics if an argument is nil.
//
// The body of a refusal is application/problem+json, by RFC 9457. It has the usual members
// status, title and detail, and also reason and lock, the path of the lock that guards the
// resource. If the token is stale, token and owner are the request's, and newestToken and
// newestOwner are the largest token seen so far and its holder. Tokens are strings,
// because they may have 64 bits. The error of a store may contain secrets, so the body
// leaves it out. Wrap the fence.Store to log its errors.
func Handler(store fence.Store, lock func(*http.Request) string, next http.Handler) http.Handler {
	switch {
	case store == nil:
		panic("fencehttp: nil store")
	case lock == nil:
		panic("fencehttp: nil lock function")
	case next == nil:
		panic("fencehttp: nil handler")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := lock(r)
		if path == "" {
			next.ServeHTTP(w, r)
			return
		}
		ctx, err := fence.Incoming(r.Context(), store, path, r.Header.Values(header))
		if err != nil {
			refuse(w, path, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// statuses are the answers for each reason of fence.Reason, except "".
var statuses = map[string]int{
	"stale":      http.StatusConflict,
	"other_lock": http.StatusConflict,
	"missing":    http.StatusPreconditionRequired,
	"malformed":  http.StatusBadRequest,
}

// problem is the body of an answer.
type problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Reason string `json:"reason"`
	Lock   string `json:"lock"`
	*fence.StaleError
}

func refuse(w http.ResponseWriter, lock string, err error) {
	p := problem{Status: http.StatusServiceUnavailable, Detail: "the store of fencing tokens has failed",
		Reason: fence.Reason(err), Lock: lock}
	if status, ok := statuses[p.Reason]; ok {
		p.Status, p.Detail = status, err.Error()
	}
	if p.Reason == "stale" { // the store may have wrapped the error
		p.Detail = fence.ErrStale.Error()
		if reason.As(err, &p.StaleError) {
			p.Detail = p.Error()
		}
	}
	p.Title = http.StatusText(p.Status)
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client has disconnected
}

// longestBody bounds the body that ErrorOf reads.
const longestBody = 64 << 10

// ErrorOf returns a *fence.StaleError if a Handler has refused the request because its
// token is stale, and nil for any other response. The body of such a response has the
// reason "stale" and a lock, because other services may answer 409 for other reasons. A
// member that the body lacks is zero. The body can still be read afterwards.
func ErrorOf(r *http.Response) error {
	if r.StatusCode != http.StatusConflict || !strings.HasPrefix(r.Header.Get("Content-Type"), contentType) {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, longestBody)) // a part of the body is no JSON
	r.Body = &struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	p := problem{StaleError: &fence.StaleError{}}
	_ = json.Unmarshal(body, &p) // a service in another language may have members of other types
	if p.Reason != "stale" || p.Lock == "" {
		return nil
	}
	return p.StaleError
}
