package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

const (
	base = "/services" // a common base path of Java Curator's users
	shop = "shop"      // the name of the service
)

// codec is the format of the nodes: Java Curator's.
var codec = discovery.CuratorCodec()

// service is one of several instances of the shop. Each instance calls the other
// instances.
type service struct {
	client *framework.Client
	calls  http.Client
	served atomic.Int64       // the calls that this instance has answered
	asks   chan chan<- report // requests for a report between two calls

	self   *discovery.Registration
	all    *discovery.Directory
	picker *discovery.Picker
	picked *discovery.Snapshot // the picker's last snapshot
	report report
}

// report is the state of an instance.
type report struct {
	Sees        []string // the other instances that it knows
	Interrupted bool     // Sees may be old
	Calls       int      // calls to other instances
	Retried     int      // attempts without an answer
	Failed      int      // calls that no instance has answered
	Served      int64
}

func newService(client *framework.Client, transport http.RoundTripper) *service {
	return &service{
		client: client, calls: http.Client{Timeout: time.Second, Transport: transport},
		asks: make(chan chan<- report),
	}
}

// open registers an instance that listens at an address, and begins to follow the
// other instances. The caller must call close, even after an error.
func (s *service) open(name string, at net.TCPAddr) (err error) {
	if s.picker, err = discovery.NewPicker(discovery.RoundRobin()); err != nil {
		return err
	}
	if s.all, err = discovery.NewDirectory(s.client, base, codec, shop); err != nil {
		return err
	}
	s.self, err = discovery.NewRegistration(s.client, base, codec, discovery.Instance{
		Service: shop, ID: name, Address: at.IP.String(), Port: at.Port,
	})
	return err
}

// drainTime is enough for other instances to learn that an instance drains, and for
// the calls under way.
const drainTime = time.Second / 2

// leave ends a working instance. The instance drains first: it gets no new calls, and
// answers the calls under way. Without draining, it would get calls until the other
// instances learn that its node is gone, and a while longer, because a directory
// first takes the missing node for an interruption.
func (s *service) leave(ctx context.Context) {
	if err := s.self.Drain(ctx); err == nil { // in an outage, no caller would learn of it
		select {
		case <-time.After(drainTime):
		case <-ctx.Done():
		}
	}
	s.close(ctx)
}

// close deregisters the instance, and does not wait for its callers.
func (s *service) close(ctx context.Context) {
	if s.self != nil {
		s.self.Shutdown(ctx)
	}
	if s.all != nil {
		s.all.Close()
	}
}

// run calls another instance every 10 ms, until ctx ends. It begins when another
// instance is registered.
func (s *service) run(ctx context.Context) error {
	if err := s.all.WaitInstances(ctx, 2); err != nil {
		return err
	}
	next := time.NewTicker(10 * time.Millisecond)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			s.report.Calls++
			if err := s.call(ctx); err != nil && ctx.Err() == nil {
				s.report.Failed++
			}
		case ask := <-s.asks:
			ask <- s.now()
		case <-s.all.Done():
			return s.all.Err()
		case <-s.self.Done():
			return s.self.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// call calls another instance. If that instance does not answer, call tries the
// next instance. A call is safe to repeat, because it changes nothing.
func (s *service) call(ctx context.Context) error {
	s.refresh()
	for attempt := 1; ; attempt++ {
		instance, request, err := s.picker.Pick()
		if err != nil {
			return err
		}
		err = s.ask(ctx, instance)
		request.Done(err) // the picker leaves out an instance that fails repeatedly
		if err == nil || attempt == 3 || ctx.Err() != nil {
			return err
		}
		s.report.Retried++
	}
}

// refresh gives the picker the other instances, if they have changed.
func (s *service) refresh() {
	now := s.all.Snapshot()
	if now == s.picked {
		return
	}
	others := slices.DeleteFunc(slices.Clone(now.Entries), func(i *discovery.Entry) bool {
		return i.ID == s.self.Instance().ID
	})
	s.picker.Update(others)
	s.picked = now
}

// ask makes one attempt of a call.
func (s *service) ask(ctx context.Context, i discovery.Instance) error {
	url := "http://" + i.HostPort() + "/work"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := s.calls.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", i.ID, response.Status)
	}
	return nil
}

// now returns the report between two calls.
func (s *service) now() report {
	r, now := s.report, s.all.Snapshot()
	r.Served, r.Interrupted = s.served.Load(), now.Interrupted
	for _, e := range now.Entries {
		switch {
		case e.ID == s.self.Instance().ID:
		case e.Disabled:
			r.Sees = append(r.Sees, e.ID+" (drains)")
		default:
			r.Sees = append(r.Sees, e.ID)
		}
	}
	return r
}
