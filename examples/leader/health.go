package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// leadership is the answer of /leader.
type leadership struct {
	Worker  string `json:"worker"`  // the worker that answers
	Leading bool   `json:"leading"` // whether that worker leads
	Leader  string `json:"leader"`
	Token   int64  `json:"token"` // the leader's fencing token
	// When this worker began to lead; nil if it does not.
	Since *time.Time `json:"since,omitempty"`
}

// health returns the HTTP endpoints for a worker's health, for the leader, and
// for people who want to know more.
func (w *worker) health() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", w.serveHealth)
	mux.HandleFunc("GET /leader", w.serveLeader)
	mux.Handle("/debug/curatorz", w.page)
	return mux
}

// serveHealth is for a supervisor that decides whether this process is healthy.
// A healthy worker need not lead.
func (w *worker) serveHealth(out http.ResponseWriter, _ *http.Request) {
	state := w.client.State()
	if !state.IsConnected() {
		out.WriteHeader(http.StatusServiceUnavailable)
	}
	io.WriteString(out, state.String()+"\n")
}

func (w *worker) serveLeader(out http.ResponseWriter, r *http.Request) {
	answer, err := w.whoLeads(r.Context())
	if err != nil { // there is no leader, or no server answers
		http.Error(out, err.Error(), http.StatusServiceUnavailable)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	json.NewEncoder(out).Encode(answer)
}

// whoLeads asks the server for the leader, unless this worker leads, which its
// own lease knows best.
func (w *worker) whoLeads(ctx context.Context) (leadership, error) {
	lease := w.selector.Leadership()
	if lease != nil && lease.Context().Err() == nil {
		return leadership{w.name, true, w.name, lease.FencingToken(), w.began.Load()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	leader, err := w.selector.Leader(ctx)
	return leadership{Worker: w.name, Leader: leader.ID(), Token: leader.Token}, err
}
