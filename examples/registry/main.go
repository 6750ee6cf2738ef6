// Registry is a service whose instances find each other in ZooKeeper and call each
// other a hundred times a second. One instance drains, one leaves, one is cut off from
// ZooKeeper, and one crashes during that outage. No call fails.
//
//	go run ./examples/registry
//
// The type shop is the part to copy: a discovery.Registration, a discovery.Directory,
// and a discovery.Picker that learns how each call has ended. The ZooKeeper server of
// the program is in memory. The instances are goroutines, each with its own client.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

// shop is an instance of the service.
type shop struct {
	self   *discovery.Registration
	all    *discovery.Directory
	picker *discovery.Picker
	picked *discovery.Snapshot // the last one that the picker received
	send   request

	retried, failed atomic.Int64
}

// request sends a request to an instance, by HTTP for example.
type request func(ctx context.Context, to discovery.Instance) error

// newShop registers an instance. The caller calls leave.
func newShop(client *framework.Client, name string, send request) (*shop, error) {
	const base = "/services"
	codec := discovery.CuratorCodec() // Java Curator's format
	picker, err := discovery.NewPicker(discovery.RoundRobin())
	if err != nil {
		return nil, err
	}
	all, err := discovery.NewDirectory(client, base, codec, "shop")
	if err != nil {
		return nil, err
	}
	self, err := discovery.NewRegistration(client, base, codec,
		discovery.Instance{Service: "shop", ID: name, Address: name + ".example.org", Port: 80})
	if err != nil {
		all.Close()
		return nil, err
	}
	return &shop{self: self, all: all, picker: picker, send: send}, nil
}

// run calls another instance every 10 milliseconds until the instance has left.
func (s *shop) run(ctx context.Context) error {
	if err := s.all.WaitInstances(ctx, 2); err != nil {
		return err
	}
	next := time.NewTicker(10 * time.Millisecond)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			if err := s.call(ctx); err != nil {
				s.failed.Add(1)
			}
		case <-s.self.Done():
			return s.self.Err()
		case <-s.all.Done():
			return s.all.Err()
		}
	}
}

// leave drains the instance before it deregisters the instance. Callers stop picking
// a draining instance, and their requests under way get an answer.
func (s *shop) leave(ctx context.Context) error {
	err := s.self.Drain(ctx)
	if err == nil { // in an outage, no caller would learn of the drain
		pause(ctx, time.Second/2)
	}
	return errors.Join(err, s.self.Shutdown(ctx), s.all.Close())
}

// call sends a request to an instance. If the instance does not answer, call tries
// other instances, because a request that changes nothing can be repeated.
func (s *shop) call(ctx context.Context) error {
	if now := s.all.Snapshot(); now != s.picked {
		s.picker.Update(s.others(now))
		s.picked = now
	}
	for attempt := 1; ; attempt++ {
		instance, picked, err := s.picker.Pick()
		if err != nil {
			return err
		}
		err = s.send(ctx, instance)
		picked.Done(err) // the picker leaves out an instance that fails again and again
		if err == nil || attempt == 3 {
			return err
		}
		s.retried.Add(1)
	}
}

func (s *shop) others(now *discovery.Snapshot) []*discovery.Entry {
	return slices.DeleteFunc(slices.Clone(now.Entries), func(e *discovery.Entry) bool {
		return e.ID == s.self.Instance().ID
	})
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	srv, err := zktest.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	if err := run(ctx, srv, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// machine is where an instance runs.
type machine struct {
	*zktest.Host // the connection to ZooKeeper
	*shop
	client *framework.Client
	isDown atomic.Bool
	served atomic.Int64
}

// run disturbs four instances, one after the other.
func run(ctx context.Context, srv *zktest.Server, out io.Writer) error {
	machines := map[string]*machine{}
	send := func(_ context.Context, to discovery.Instance) error {
		if machines[to.ID].isDown.Load() {
			return errors.New("connection refused")
		}
		machines[to.ID].served.Add(1)
		return nil
	}
	lima, oslo, paris, rome := &machine{}, &machine{}, &machine{}, &machine{}
	for name, m := range map[string]*machine{"lima": lima, "oslo": oslo, "paris": paris, "rome": rome} {
		machines[name], m.Host = m, srv.NewHost()
	}
	var running sync.WaitGroup
	defer running.Wait()
	for name, m := range machines {
		var err error
		m.client, err = framework.Connect(ctx, srv.Addr(),
			framework.WithDialer(m.Dialer()), framework.WithSessionTimeout(5*time.Second))
		if err != nil {
			return err
		}
		defer m.client.Close() // ends the instance
		if m.shop, err = newShop(m.client, name, send); err != nil {
			return err
		}
		running.Go(func() { _ = m.run(ctx) })
	}
	show := func(title string, machines ...*machine) {
		pause(ctx, time.Second)
		fmt.Fprintln(out, title)
		for _, m := range machines {
			now, state, sees := m.all.Snapshot(), "connected", ""
			if now.Interrupted {
				state = "cut off"
			}
			for _, e := range m.others(now) {
				sees += " " + e.ID
			}
			fmt.Fprintf(out, "  %-5s is %-9s and sees%-16s  %d calls failed, %d were repeated\n",
				m.self.Instance().ID, state, sees, m.failed.Load(), m.retried.Load())
		}
	}
	show("Four instances call each other.", lima, oslo, paris, rome)

	if err := rome.self.Drain(ctx); err != nil {
		return err
	}
	pause(ctx, time.Second/10)
	served := rome.served.Load()
	pause(ctx, time.Second)
	fmt.Fprintf(out, "rome drains and gets %d calls a second.\n", rome.served.Load()-served)

	if err := errors.Join(rome.self.Resume(ctx), lima.leave(ctx)); err != nil {
		return err
	}
	lima.isDown.Store(true)
	show("rome is back, and lima has left.", oslo, paris, rome)

	oslo.Disconnect()
	paris.Disconnect()
	paris.isDown.Store(true)
	paris.client.Close()
	show("oslo is cut off from ZooKeeper, and paris has crashed.", oslo, rome)

	oslo.Heal()
	pause(ctx, 6*time.Second)
	show("oslo is connected again, and the session of paris has timed out.", oslo, rome)
	return context.Cause(ctx)
}
