package discovery_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// patient is a health check whose result the test sets.
type patient struct {
	err   atomic.Pointer[error]
	calls atomic.Int32
	does  atomic.Pointer[func()] // before it returns; or nil
}

func (p *patient) set(err error) { p.err.Store(&err) }

func (p *patient) check(context.Context) error {
	p.calls.Add(1)
	if does := p.does.Load(); does != nil {
		(*does)()
	}
	return *p.err.Load()
}

func (p *patient) every10s() discovery.RegistrationOption {
	return discovery.WithHealthCheck(discovery.HealthCheck{
		Check: p.check, Interval: 10 * time.Second, Timeout: 2 * time.Second, Failures: 3, Passes: 2,
	})
}

var errSick = errors.New("sick")

// checks lets n checks pass.
func checks(n int) {
	time.Sleep(time.Duration(n) * 10 * time.Second)
	synctest.Wait()
}

// An instance drains while its check fails: not after one failure, and not
// longer than it takes to pass some times. The node stays.
func TestHealthCheckDrainsAnInstance(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := &patient{}
		p.set(nil)
		w.registered(t, w.Observer, replica("a", 1), p.every10s())
		settle()
		created := w.czxid(t)
		d := w.directory(t, w.Observer)
		require.Equal(t, []string{"a:1"}, names(d))
		p.set(errSick)
		checks(2)
		require.Equal(t, []string{"a:1"}, names(d))
		p.set(nil)
		checks(1)
		p.set(errSick)
		checks(2)
		require.Equal(t, []string{"a:1"}, names(d), "the failures were not in a row")
		checks(1)
		require.Equal(t, []string{"a:1 drains"}, names(d))
		p.set(nil)
		checks(1)
		require.Equal(t, []string{"a:1 drains"}, names(d))
		checks(1)
		require.Equal(t, []string{"a:1"}, names(d))
		require.Equal(t, created, w.czxid(t))
	})
}

// An instance begins as one that drains, until its check has passed once.
func TestInstanceDrainsUntilItsFirstCheckPasses(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := &patient{}
		p.set(errSick)
		r := w.registered(t, w.Observer, replica("a", 1), p.every10s())
		d := w.directory(t, w.Observer)
		checks(5)
		require.Equal(t, []string{"a:1 drains"}, names(d))
		p.set(nil)
		checks(2)
		require.Equal(t, []string{"a:1"}, names(d))
		require.NoError(t, r.Drain(w.Patience(t)))
		checks(3)
		require.Equal(t, []string{"a:1 drains"}, names(d), "the user's drain counts, too")
		p.set(errSick)
		checks(3)
		require.NoError(t, r.Resume(w.Patience(t)))
		settle()
		require.Equal(t, []string{"a:1 drains"}, names(d), "the check fails")
	})
}

// A check that does not return in time has failed, and no second one begins
// beside it. So has one that ends its goroutine.
func TestCheckThatDoesNotReturnHasFailed(t *testing.T) {
	for name, does := range map[string]func(){
		"blocks":             func() { time.Sleep(100 * time.Second) },
		"ends its goroutine": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				p := &patient{}
				p.set(nil)
				r := w.registered(t, w.Observer, replica("a", 1), p.every10s())
				d := w.directory(t, w.Observer)
				require.NoError(t, d.WaitInstances(w.Patience(t), 1))
				p.does.Store(&does)
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, []string{"a:1 drains"}, names(d))
				if name == "blocks" {
					require.EqualValues(t, 2, p.calls.Load())
				}
				require.NoError(t, r.Shutdown(w.Patience(t)))
				outlastGrace()
				before := p.calls.Load()
				time.Sleep(time.Hour)
				require.Equal(t, before, p.calls.Load(), "nothing is checked any more")
			})
		})
	}
}

// What a check has found during an outage is written behind it.
func TestHealthCheckDuringAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := &patient{}
		p.set(nil)
		c, network := w.Connect(t)
		w.registered(t, c, replica("a", 1), p.every10s())
		d := w.directory(t, w.Observer)
		require.NoError(t, d.WaitInstances(w.Patience(t), 1))
		network.Refuse(true)
		network.Cut()
		p.set(errSick)
		time.Sleep(5 * time.Minute)
		network.Refuse(false)
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		checks(2)
		require.Equal(t, []string{"a:1 drains"}, names(d))
		require.Greater(t, p.calls.Load(), int32(5), "an outage holds up no check")
	})
}

// An update that waits for the end of an outage has the turn, and delays no check.
func TestUpdateDelaysNoCheck(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := &patient{}
		p.set(nil)
		c, network := w.Connect(t)
		r := w.registered(t, c, replica("a", 1), p.every10s())
		d := w.directory(t, w.Observer)
		require.NoError(t, d.WaitInstances(w.Patience(t), 1))
		network.Refuse(true)
		network.Cut()
		updated := make(chan error, 1)
		go func() { updated <- r.Update(w.Patience(t), replica("a", 2)) }()
		synctest.Wait()
		p.set(errSick)
		before := p.calls.Load()
		checks(20)
		require.Equal(t, before+20, p.calls.Load())
		network.Refuse(false)
		require.NoError(t, <-updated)
		checks(2)
		require.Equal(t, []string{"a:2 drains"}, names(d))
	})
}
