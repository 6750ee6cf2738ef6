package zktest

import (
	"errors"
	"slices"
	"time"
)

// ChaosPlan makes a server or an ensemble fail by chance, see [WithChaos]. In a
// bubble of testing/synctest the same seed gives the same run, request by
// request, as long as the clients are deterministic. All random numbers come from the
// seed, and each request has a different latency, so that no two requests arrive at
// the same time.
//
// A client is not deterministic in these cases:
//
//   - Several goroutines of the client send requests at the same instant.
//   - The client draws random numbers. For example, go-zookeeper shuffles the list of
//     addresses: pass one address, or your own zk.HostProvider.
//   - Two clients open their first sessions at the same instant. Start one after the
//     other.
type ChaosPlan struct {
	Seed uint64
	// Latency is the longest time that a request takes on its way to the
	// server, 1 millisecond if it is 0. Answers arrive at once.
	Latency time.Duration
	// Faults hit single requests, each with its [Rule.Chance]. Here Times 0 means
	// no limit.
	Faults []Rule
	// Every is the mean time between two disruptions.
	Every time.Duration
	// Disruptions are what happens to servers and sessions, each as likely as
	// the others. List one twice to have it twice as often.
	Disruptions []Disruption
}

// event is something that a [ChaosPlan] did.
type event struct {
	time time.Time
	what string
}

// WithChaos makes the server, or the ensemble, fail by chance until
// [Server.StopFaults]. These plans are refused: disruptions without Every, disruptions
// that need an ensemble for a single server, unknown kinds, and rules that
// [Server.Inject] refuses.
func WithChaos(plan ChaosPlan) Option {
	return func(c *config) { c.plan = &plan }
}

// startFaults makes the servers fail by chance from now on, as [WithChaos] does
// from the beginning. StopFaults then also ends the latency. A plan that makes no
// sense is an error, and so is a second plan while another is at work.
func (c *cluster) startFaults(plan ChaosPlan) error {
	if c.ens != nil {
		return c.simulate(plan, false, victims{servers: c.ens.servers(), ens: c.ens})
	}
	return c.simulate(plan, false, victims{servers: []*Server{c.alone}})
}

// StopFaults ends the faults and disruptions of [WithChaos]. Servers and sessions that
// are stopped, paused or cut off work again, and black holes are healed. The latency of
// [WithChaos] stays.
//
// At a member of an ensemble, StopFaults does that for all members. Members that
// the plan has cut off are connected again, and those that it has slowed down do
// not lag. If they have lost their leader, an election follows.
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

// events returns what the last [ChaosPlan] has done so far, in order.
func (c *cluster) events() []event {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sim == nil {
		return nil
	}
	return slices.Clone(c.sim.log)
}

// simulateConfigured puts the configuration's plan to work, if there is one.
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

// stopFaults ends the faults and repairs what they have broken.
func (c *cluster) stopFaults() {
	c.mu.Lock()
	sim := c.sim
	c.unlock()
	if sim != nil {
		sim.stop()
	}
}
