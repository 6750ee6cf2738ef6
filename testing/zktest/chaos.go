package zktest

import (
	"errors"
	"slices"
)

// StartFaults makes the server fail by chance from now on, as [WithChaos] does
// from the beginning, until [Server.StopFaults], which also ends the latency. A
// plan that makes no sense is an error, and so is a second one while another is
// at work.
func (s *Server) StartFaults(plan ChaosPlan) error {
	if s.member != nil {
		return s.ens.StartFaults(plan)
	}
	return s.simulate(plan, false, victims{servers: []*Server{s}})
}

// StartFaults is [Server.StartFaults] for an ensemble.
func (e *Ensemble) StartFaults(plan ChaosPlan) error {
	return e.simulate(plan, false, victims{servers: e.servers(), ens: e})
}

// StopFaults ends what [WithChaos] has begun: there are no more faults and
// disruptions, servers and sessions that are stopped, paused or cut off work
// again, and black holes are healed. The latency of [WithChaos] stays. A
// simulation ends with StopFaults, and with a look at what the clients have
// made of it all.
func (s *Server) StopFaults() {
	if s.member != nil {
		s.ens.StopFaults()
		return
	}
	s.stopFaults()
	s.Heal()
}

// StopFaults is [Server.StopFaults] for an ensemble. Members that the plan has
// cut off are connected again, and those that it has slowed down do not lag. If
// they have lost their leader, an election follows.
func (e *Ensemble) StopFaults() {
	e.stopFaults()
	for _, m := range e.members {
		m.Heal()
	}
}

// Events returns what the last [ChaosPlan] has done so far, in order.
func (s *Server) Events() []Event { return s.simulated() }

// Events returns what the last [ChaosPlan] has done so far, in order.
func (e *Ensemble) Events() []Event { return e.simulated() }

func (c *cluster) simulated() []Event {
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
	sim.disruptOne = func(d Disruption) { d.do(&on, d.name) }
	sim.rng = sim.rngFor(0)
	sim.counts, sim.hits = make([]int, len(sim.Faults)), make([]int, len(sim.Faults))
	c.mu.Lock()
	defer c.unlock()
	if c.closing {
		return ErrClosed
	}
	if c.cfg.schedule != nil {
		return errors.New("a chaos plan beside a scheduler")
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
