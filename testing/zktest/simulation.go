package zktest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// simulation is an active ChaosPlan.
type simulation struct {
	ChaosPlan
	monitor    *monitor
	alarms     *alarms
	disruptOne func(Disruption)
	// fromBeginning is true for WithChaos, whose latency never ends.
	fromBeginning bool
	// acting is held while a disruption begins or ends, so that StopFaults can undo
	// every disruption. It is taken before the monitor.
	acting sync.Mutex
	rng    *rand.Rand // guarded by acting

	// Guarded by the monitor.
	counts  []int // for each of the Faults, the requests that have matched
	hits    []int // for each of the Faults, the requests that it has hit
	stopped bool
	next    *alarm
	undos   []*undo // the oldest first
	log     []event
}

// undo is the end of a disruption.
type undo struct {
	alarm *alarm
	do    func()
}

const (
	defaultLatency = time.Millisecond

	// longestPlan bounds the times of a plan, so that sums do not overflow.
	longestPlan = 365 * 24 * time.Hour

	// maxEvents bounds the log of a plan that is active for a very long time.
	maxEvents = 100_000
)

func (sim *simulation) check(standalone bool) error {
	if sim.Latency < 0 || sim.Latency > longestPlan {
		return fmt.Errorf("a latency of %v", sim.Latency)
	}
	for _, r := range sim.Faults {
		if err := r.check(); err != nil {
			return err
		}
	}
	if len(sim.Disruptions) > 0 && (sim.Every <= 0 || sim.Every > longestPlan) {
		return fmt.Errorf("disruptions every %v", sim.Every)
	}
	for _, d := range sim.Disruptions {
		if err := d.check(standalone); err != nil {
			return err
		}
	}
	return nil
}

// rngFor returns the source of random numbers for a key and a moment.
func (sim *simulation) rngFor(key int64) *rand.Rand {
	return rand.New(rand.NewPCG(sim.Seed, uint64(key)^uint64(time.Now().UnixNano())))
}

// scheduleLocked sets the alarm for the next disruption.
func (sim *simulation) scheduleLocked() {
	if len(sim.Disruptions) == 0 || sim.stopped {
		return
	}
	wait := time.Duration(sim.rng.ExpFloat64() * float64(sim.Every))
	sim.next = sim.alarms.afterLocked(jitterSlot(wait, 0), func() {
		sim.disrupt()
		sim.monitor.mu.Lock()
		defer sim.monitor.unlock()
		sim.scheduleLocked()
	})
}

// disrupt begins one disruption.
func (sim *simulation) disrupt() {
	sim.acting.Lock()
	defer sim.acting.Unlock()
	sim.monitor.mu.Lock()
	stopped := sim.stopped
	sim.monitor.unlock()
	if stopped {
		return
	}
	sim.disruptOne(sim.Disruptions[sim.rng.IntN(len(sim.Disruptions))])
}

// applyFaultsLocked adds the plan's faults that hit the request, at random.
func (sim *simulation) applyFaultsLocked(f *faults, req *Request, paths func() []string, rng *rand.Rand) {
	for i, r := range sim.Faults {
		if !r.matches(req, paths) {
			continue
		}
		hit := rng.Float64() < r.Chance
		sim.counts[i]++
		if !hit || sim.stopped || sim.counts[i] <= r.After || r.Times > 0 && sim.hits[i] >= r.Times {
			continue
		}
		sim.hits[i]++
		r.Do.apply(f)
		sim.noteLocked(fmt.Sprintf("fault %d hit %v %s of %#x", i, req.Op, req.Path, req.Session))
	}
}

// noteLocked adds an event to the log.
func (sim *simulation) noteLocked(what string) {
	if len(sim.log) == maxEvents {
		sim.log = slices.Delete(sim.log, 0, maxEvents/2)
	}
	sim.log = append(sim.log, event{time.Now(), what})
}

// begin logs a disruption that is about to happen. If the disruption has a duration, begin
// schedules its end within that time.
func (sim *simulation) begin(what string, atMost time.Duration, end func()) {
	wait := time.Duration(0)
	if end != nil {
		wait = 1 + time.Duration(sim.rng.Int64N(int64(max(atMost, 1))))
		what = fmt.Sprintf("%s for %v", what, wait)
	}
	sim.monitor.mu.Lock()
	defer sim.monitor.unlock()
	sim.noteLocked(what)
	if end == nil {
		return
	}
	r := &undo{do: end}
	sim.undos = append(sim.undos, r)
	r.alarm = sim.alarms.afterLocked(jitterSlot(wait, 0), func() {
		sim.acting.Lock()
		defer sim.acting.Unlock()
		sim.monitor.mu.Lock()
		i := slices.Index(sim.undos, r)
		if i >= 0 {
			sim.undos = slices.Delete(sim.undos, i, i+1)
		}
		sim.monitor.unlock()
		if i >= 0 { // StopFaults has not removed it
			end()
		}
	})
}

// stopLocked stops the plan's alarms.
func (sim *simulation) stopLocked() {
	sim.stopped = true
	sim.next.stop()
	for _, r := range sim.undos {
		r.alarm.stop()
	}
}

// stop ends the faults, and undoes the disruptions.
func (sim *simulation) stop() {
	sim.monitor.mu.Lock()
	sim.stopLocked()
	sim.monitor.unlock()

	// A disruption that has begun ends first.
	sim.acting.Lock()
	defer sim.acting.Unlock()
	sim.monitor.mu.Lock()
	var ends []func()
	for _, r := range sim.undos {
		r.alarm.stop()
		ends = append(ends, r.do)
	}
	sim.undos = nil
	sim.monitor.unlock()
	for _, end := range ends {
		end()
	}
}

// simulateLatency waits as long as a request needs to reach the server. It returns false
// if the connection ended meanwhile.
func (c *conn) simulateLatency(x *exchange) bool {
	c.srv.mu.Lock()
	sim := c.srv.sim
	if sim != nil && c.rngOf != sim {
		if c.key = x.req.Session; c.key == 0 {
			c.key = c.seq
		}
		c.rng, c.rngOf = sim.rngFor(c.key), sim
	}
	atWork := sim != nil && (!sim.stopped || sim.fromBeginning)
	c.srv.mu.Unlock()
	if !atWork {
		return true
	}
	wait := time.Duration(c.rng.Int64N(int64(sim.Latency) + 1))
	return sleep(jitterSlot(wait, 1+c.key%998), c.done)
}
