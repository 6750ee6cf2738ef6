package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
)

// handler serves the calls of other instances, and the commands of the story. The
// answer to /report waits until the directory is as new as the transaction zxid. The
// answers to /drain, /resume, /cut and /plug are the last transaction of the
// instance's client.
func (s *service) handler(link *cable) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /work", func(http.ResponseWriter, *http.Request) { s.served.Add(1) })
	mux.HandleFunc("GET /report", s.serveReport)
	for name, do := range map[string]func(context.Context) error{
		"drain":  s.self.Drain,
		"resume": s.self.Resume,
		"cut":    func(context.Context) error { return link.plug(false) },
		"plug":   func(context.Context) error { return link.plug(true) },
	} {
		mux.HandleFunc("POST /"+name, func(w http.ResponseWriter, r *http.Request) {
			if err := do(r.Context()); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			json.NewEncoder(w).Encode(s.client.LastZxid())
		})
	}
	return mux
}

func (s *service) serveReport(w http.ResponseWriter, r *http.Request) {
	if zxid, err := strconv.ParseInt(r.FormValue("zxid"), 10, 64); err == nil {
		if err := s.all.WaitFor(r.Context(), zxid); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	answer := make(chan report, 1)
	select {
	case s.asks <- answer:
		json.NewEncoder(w).Encode(<-answer)
	case <-r.Context().Done():
	}
}
