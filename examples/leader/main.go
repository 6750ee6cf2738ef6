// Leader is a service of several processes, of which one works at a time. When the leader
// stops, crashes or loses its connection, another process takes over.
//
//	go run ./cmd/zkfake                                  # a server, in the first terminal
//	ZOOKEEPER=127.0.0.1:2181 go run ./examples/leader    # in two or more further terminals
//
// Press Ctrl-C in the leader's terminal: another process leads at once. Or kill the leader
// with kill -9: another process leads when the session of the leader has timed out. Each
// process prints its id and its URL.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gocurator/curator/debug/curatorz"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	page := curatorz.New()
	client, err := framework.Connect(ctx, os.Getenv("ZOOKEEPER"), framework.WithHooks(page))
	if err != nil {
		return err
	}
	defer client.Close() // frees the leadership even if the work has failed
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := newService(client, "http://"+listener.Addr().String())
	mux := s.routes()
	mux.Handle("GET /debug/curatorz", page) // for operators only: the address is a loopback one
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go server.Serve(listener)
	defer server.Close()
	log.Printf("process %d serves %s/leader", os.Getpid(), s.url)
	return s.run(ctx)
}

// service is one of several processes that can do the same work. Only the leader does it.
type service struct {
	url      string
	client   *framework.Client
	selector *leader.Selector
}

func newService(client *framework.Client, url string) *service {
	again := func(error) bool { return true } // a lost session is no reason to stop
	return &service{url, client, leader.NewSelector(client, "/leaders/billing",
		leader.WithID(url), leader.WithRequeue(again))}
}

// run competes for the leadership until ctx ends, which Ctrl-C and SIGTERM cause. A leader
// then finishes its work and gives the leadership up, so that no other process has to wait
// for the end of the session.
func (s *service) run(ctx context.Context) error {
	err := s.selector.Run(ctx, s.lead)
	if ctx.Err() != nil {
		return nil // the process was asked to stop
	}
	return err
}

// lead is the work of the leader. Its context ends with the leadership, so all work must be
// done under this context. A leader that is paused learns too late that another process
// leads: pass the fencing token to whatever the work writes to. See docs/FENCING.md.
func (s *service) lead(ctx context.Context) error {
	lease, _ := locks.LeaseFromContext(ctx)
	log.Printf("%s leads with fencing token %d", s.url, lease.FencingToken())
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			log.Printf("%s works", s.url)
		case <-ctx.Done():
			log.Printf("%s stops: %v", s.url, context.Cause(ctx))
			return nil
		}
	}
}

func (s *service) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", s.serveReady)
	mux.HandleFunc("GET /leader", s.serveLeader)
	return mux
}

// serveReady is for a supervisor such as Kubernetes. A process that is ready need not lead.
func (s *service) serveReady(w http.ResponseWriter, _ *http.Request) {
	if now := s.client.State(); !now.IsConnected() {
		http.Error(w, now.String(), http.StatusServiceUnavailable)
	}
}

// serveLeader tells anyone who leads, and where the leader serves.
func (s *service) serveLeader(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	now, err := s.selector.Leader(ctx)
	if err != nil { // there is no leader, or no server answers
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"leader": now.ID(), "token": now.Token})
}
