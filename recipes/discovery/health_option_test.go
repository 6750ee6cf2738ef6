package discovery_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// Two registrations may begin at the same time with the same option.
func TestOptionOfAHealthCheckIsUsedTwice(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := &patient{}
		p.set(nil)
		opt := discovery.WithHealthCheck(discovery.HealthCheck{Check: p.check})
		var all sync.WaitGroup
		for _, id := range []string{"a", "b"} {
			all.Go(func() {
				r, err := discovery.NewRegistration(w.Observer, base, plain{}, replica(id, 1), opt)
				if err == nil {
					r.Shutdown(context.Background())
				}
			})
		}
		all.Wait()
	})
}

// A check that waits for a late one has all of its time after that.
func TestCheckBehindALateOneHasItsTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var times []time.Duration
		first := true
		r := w.registered(t, w.Observer, replica("a", 1), discovery.WithHealthCheck(discovery.HealthCheck{
			Interval: 10 * time.Second, Timeout: 2 * time.Second,
			Check: func(ctx context.Context) error {
				deadline, _ := ctx.Deadline()
				times = append(times, time.Until(deadline))
				if first {
					first = false
					time.Sleep(14*time.Second - time.Millisecond)
				}
				return errors.New("sick")
			},
		}))
		time.Sleep(time.Minute)
		require.NoError(t, r.Shutdown(w.Patience(t)))
		for _, left := range times {
			require.Equal(t, 2*time.Second, left)
		}
	})
}

// One check that passes ends the drain that an instance begins with, also if
// others have failed before.
func TestFirstPassEndsTheDrainOfTheBeginning(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := &patient{}
		p.set(errSick)
		w.registered(t, w.Observer, replica("a", 1), p.every10s())
		d := w.directory(t, w.Observer)
		settle()
		require.Equal(t, []string{"a:1 drains"}, names(d))
		p.set(nil)
		checks(1)
		require.Equal(t, []string{"a:1"}, names(d))
	})
}
