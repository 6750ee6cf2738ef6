package discovery_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// registrant registers an instance again and again.
type registrant struct {
	*fleet
	rng    *rand.Rand
	client *framework.Client
	host   *zktest.Host
	mortal bool
	id     string
	port   int
	r      *discovery.Registration
}

func (r *registrant) live(restless, over context.Context) {
	for restless.Err() == nil {
		r.register([]nodes.ConflictPolicy{nodes.Wait, nodes.Fail, nodes.Replace}[r.rng.IntN(3)])
		for restless.Err() == nil && r.r.Err() == nil && r.rng.IntN(8) > 0 {
			r.change(restless)
		}
		switch {
		case restless.Err() != nil:
		case r.mortal && r.rng.IntN(3) == 0:
			r.die()
		default:
			ctx, cancel := context.WithTimeout(restless, r.upTo(20*time.Second))
			r.r.Shutdown(ctx)
			cancel()
		}
	}
	for over.Err() == nil { // somebody has the common ID in the end
		select {
		case <-r.r.Done():
			r.register(nodes.Wait)
		case <-over.Done():
		}
	}
	err := r.r.Shutdown(recipetest.Within(r.T, time.Minute))
	if err != nil && !errors.Is(err, framework.ErrLeftToServers) {
		r.Error(err)
	}
}

// die ends the process without a word, and begins another one.
func (r *registrant) die() {
	r.host.Disconnect()
	r.client.Close()
	r.client, r.host = r.connect()
}

func (r *registrant) register(policy nodes.ConflictPolicy) {
	r.port++
	if r.id != "common" {
		policy = nodes.Wait
	}
	for {
		next, err := discovery.NewRegistration(r.client, base, plain{}, replica(r.id, r.port), discovery.WithConflictPolicy(policy))
		if err == nil {
			r.r = next
			return
		}
		r.Error(err)
		time.Sleep(time.Second)
	}
}

func (r *registrant) change(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.upTo(10*time.Second))
	defer cancel()
	switch r.rng.IntN(4) {
	case 0:
		r.r.WaitRegistered(ctx)
	case 1:
		r.port++
		r.r.Update(ctx, replica(r.id, r.port))
	case 2:
		r.r.Drain(ctx)
	case 3:
		r.r.Resume(ctx)
	}
	time.Sleep(r.upTo(5 * time.Second))
}

func (r *registrant) upTo(d time.Duration) time.Duration {
	return time.Duration(r.rng.Int64N(int64(d)))
}
