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
	Worker  string     `json:"worker"`  // who answers
	Leading bool       `json:"leading"` // whether it leads
	Leader  string     `json:"leader"`
	Token   int64      `json:"token"`           // the leader's
	Since   *time.Time `json:"since,omitempty"` // when this worker began to lead, if it does
}

// health tells, over HTTP, how a worker is, and who leads.
func (w *worker) health() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", w.serveHealth)
	mux.HandleFunc("GET /leader", w.serveLeader)
	return mux
}

// serveHealth is for who decides whether this process is in order. Whether it leads does not matter for that.
func (w *worker) serveHealth(out http.ResponseWriter, _ *http.Request) {
	state := w.client.State()
	if !state.IsConnected() {
		out.WriteHeader(http.StatusServiceUnavailable)
	}
	io.WriteString(out, state.String()+"\n")
}

func (w *worker) serveLeader(out http.ResponseWriter, r *http.Request) {
	answer, err := w.whoLeads(r.Context())
	if err != nil { // nobody leads, or the server cannot be asked
		http.Error(out, err.Error(), http.StatusServiceUnavailable)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	json.NewEncoder(out).Encode(answer)
}

// whoLeads asks the server. Whether it is this worker who leads, its lease knows better.
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
