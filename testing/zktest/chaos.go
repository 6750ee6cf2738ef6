package zktest

import (
	"errors"
	"slices"
	"time"
)

// ChaosPlan makes a server or an ensemble fail at random; see [WithChaos]. In a bubble of
// testing/synctest, a seed repeats a run request by request if the clients are
// deterministic. All randomness comes from the seed, and each request has another latency,
// so that no two requests arrive at the same time.
//
// A client is not deterministic in these cases:
//
//   - Several of its goroutines make requests at the same instant.
//   - It uses random numbers. go-zookeeper shuffles its addresses: pass one address, or a
//     zk.HostProvider of your own.
//   - It opens its first session at the same instant as another client, and the server
//     cannot distinguish the two. Start one client after the other.
type ChaosPlan struct {
	Seed uint64
	// Latency is the longest time that a request needs to reach the server. The
	// default is 1 millisecond. Answers arrive at once.
	Latency time.Duration
	// Faults hit single requests, each with its [Rule.Chance]. In a ChaosPlan, Times 0
	// means no limit.
	Faults []Rule
	// Every is the mean time between two disruptions.
	Every time.Duration
	// Disruptions happen to servers and sessions. All elements have the same
	// probability; list a disruption twice to double its probability.
	Disruptions []Disruption
}

// event is something that a [ChaosPlan] did.
type event struct {
	time time.Time
	what string
}

// WithChaos makes the server or the ensemble fail at random until [Server.StopFaults]. A
// plan is invalid if it has disruptions without Every, disruptions that need an ensemble
// for a standalone server, unknown kinds, or invalid rules.
func WithChaos(plan ChaosPlan) Option {
	return func(c *config) { c.plan = &plan }
}

// startFaults makes the servers fail at random from now on, as [WithChaos] does from the
// beginning. StopFaults then also ends the latency. An invalid plan is an error, and so is
// a second plan while another plan is active.
func (c *cluster) startFaults(plan ChaosPlan) error {
	if c.ens != nil {
		return c.simulate(plan, false, victims{servers: c.ens.servers(), ens: c.ens})
	}
	return c.simulate(plan, false, victims{servers: []*Server{c.alone}})
}

// StopFaults ends the faults and disruptions of [WithChaos]. Servers and sessions that
// were stopped, paused or cut off work again, and black holes are healed. The latency of
// [WithChaos] stays.
//
// For a member of an ensemble, StopFaults has this effect on all members. Members that the
// plan has cut off are connected again, and members that it has slowed down no longer lag.
// If the members have lost their leader, an election follows.
func (s *Server) StopFaults() {
	s.stopFaults()
	if s.ens == nil {
		s.Heal()
		return
	}
	for _, m := range s.ens.members {
		m.Heal()
	}
}

// events returns the events of the last [ChaosPlan] so far, in order.
func (c *cluster) events() []event {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sim == nil {
		return nil
	}
	return slices.Clone(c.sim.log)
}

// simulateConfigured activates the configuration's plan, if there is one.
func (c *cluster) simulateConfigured(on victims) error {
	if c.cfg.plan == nil {
		return nil
	}
	return c.simulate(*c.cfg.plan, true, on)
}

func (c *cluster) simulate(plan ChaosPlan, fromBeginning bool, on victims) error {
	if plan.Latency == 0 {
		plan.Latency = defaultLatency
	}
	plan.Faults, plan.Disruptions = slices.Clone(plan.Faults), slices.Clone(plan.Disruptions)
	sim := &simulation{ChaosPlan: plan, monitor: &c.monitor, alarms: &c.alarms, fromBeginning: fromBeginning}
	if err := sim.check(on.ens == nil); err != nil {
		return err
	}
	on.simulation = sim
	sim.disruptOne = on.disrupt
	sim.rng = sim.rngFor(0)
	sim.counts, sim.hits = make([]int, len(sim.Faults)), make([]int, len(sim.Faults))
	c.mu.Lock()
	defer c.unlock()
	if c.closing {
		return errClosed
	}
	if c.cfg.Schedule != nil {
		return errors.New("a chaos plan together with a scheduler")
	}
	if c.sim != nil && !c.sim.stopped {
		return errors.New("a chaos plan is at work already")
	}
	c.sim = sim
	sim.scheduleLocked()
	return nil
}

// stopFaults ends the faults, and undoes the disruptions.
func (c *cluster) stopFaults() {
	c.mu.Lock()
	sim := c.sim
	c.unlock()
	if sim != nil {
		sim.stop()
	}
}
