package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

//go:embed control.txt
var controlHelp string

// control is the remote control: an HTTP server next to the ZooKeeper servers.
type control struct {
	servers *servers
	http    http.Server
	addr    string
	ended   sync.WaitGroup

	exit func() // makes the program end

	// Actions run one at a time: a client could not tell in which order two concurrent
	// actions changed a server.
	acting sync.Mutex
	chaos  bool // random faults are running; guarded by acting
}

// startControl returns a running remote control, which the caller must close.
func startControl(addr string, s *servers, exit func()) (*control, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &control{servers: s, addr: l.Addr().String(), exit: exit}
	c.http = http.Server{Handler: c.handler(), ReadHeaderTimeout: 10 * time.Second}
	c.ended.Go(func() { _ = c.http.Serve(l) }) // close ends it
	return c, nil
}

func (c *control) url() string { return "http://" + c.addr }

// close ends the remote control. Running requests get a moment to finish.
func (c *control) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.http.Shutdown(ctx) != nil {
		_ = c.http.Close()
	}
	c.ended.Wait()
}

func (c *control) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, controlHelp)
	})
	get := func(path string, what answer) { mux.HandleFunc("GET "+path, respond(what)) }
	do := func(pattern string, what answer) {
		mux.HandleFunc(pattern, respond(func(r *http.Request) (any, error) {
			c.acting.Lock()
			defer c.acting.Unlock()
			return what(r)
		}))
	}
	get("/status", c.status)
	get("/sessions", c.sessions)
	get("/sessions/{id}", c.session)
	get("/tree", c.tree)
	get("/watches", c.watches)
	get("/requests", c.requests)
	get("/chaos", c.chaosLog)
	do("POST /chaos", c.beginChaos)
	do("DELETE /chaos", c.endChaos)
	for name, action := range serverActions {
		do("POST /"+name, c.onMembers(action))
	}
	do("POST /exit", c.end)
	do("POST /restart", c.restart)
	do("POST /partition", c.partition)
	do("POST /heal", c.heal)
	for name, action := range sessionActions {
		do("POST /sessions/{id}/"+name, c.onSession(name, action))
	}
	mux.HandleFunc("/", respond(func(r *http.Request) (any, error) { return nil, unknownRequest(mux, r) }))
	return localOnly(mux)
}

// end makes the program end as a signal does.
func (c *control) end(r *http.Request) (any, error) {
	if err := onlyParameters(r); err != nil {
		return nil, err
	}
	c.exit()
	return nil, nil
}

// unknownRequest returns the error of a request that no other pattern matches: a wrong
// path, or only a wrong method.
func unknownRequest(mux *http.ServeMux, r *http.Request) error {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "/" {
			text := fmt.Sprintf("%s %s: the method is %s", r.Method, r.URL.Path, method)
			return &requestError{status: http.StatusMethodNotAllowed, text: text, allow: method}
		}
	}
	return notFound("%s %s: no such request; GET / has the list", r.Method, r.URL.Path)
}

// localOnly refuses requests that a web page could make a browser on this machine send.
// Such a request names its origin, or uses a host name that the page's owner lets point
// to this machine.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		ip := net.ParseIP(host)
		if r.Header.Get("Origin") != "" || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			sendJSON(w, http.StatusForbidden, failure{"only for programs on this machine"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// answer carries out a request and returns the body of the answer, or nil.
type answer func(*http.Request) (any, error)

// failure is the body of an answer that reports an error.
type failure struct {
	Error string `json:"error"`
}

// requestError is an error with the status of its answer.
type requestError struct {
	status int
	text   string
	allow  string // the header of that name, for a wrong method
}

func (e *requestError) Error() string { return e.text }

func badRequest(format string, args ...any) error {
	return &requestError{status: http.StatusBadRequest, text: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &requestError{status: http.StatusNotFound, text: fmt.Sprintf(format, args...)}
}

func conflict(format string, args ...any) error {
	return &requestError{status: http.StatusConflict, text: fmt.Sprintf(format, args...)}
}

func respond(what answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := what(r)
		var failed *requestError
		switch {
		case errors.As(err, &failed):
			if failed.allow != "" {
				w.Header().Set("Allow", failed.allow)
			}
			sendJSON(w, failed.status, failure{failed.text})
		case err != nil:
			sendJSON(w, http.StatusInternalServerError, failure{err.Error()})
		case body == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			sendJSON(w, http.StatusOK, body)
		}
	}
}

func sendJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(body) // the client may have disconnected
}
