package zktest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Random makes a server or an ensemble fail by chance, see [WithRandom]. In a bubble
// of testing/synctest the same seed gives the same run, request by request, as long as
// the clients are deterministic: every request takes a time of its own on its way, so
// that no two are at the server at once, and all that is random is drawn from the seed.
//
// A client is not deterministic if several of its goroutines make requests at the same
// instant, or if it draws lots itself: go-zookeeper shuffles the addresses it is given,
// so give it one, or a HostProvider of your own. Clients that open their first session
// at the same instant cannot be told apart: start one after the other.
type Random struct {
	Seed uint64
	// Latency is the longest time that a request takes on its way to the server,
	// 1 millisecond if it is 0. Answers arrive at once.
	Latency time.Duration
	// Odds are faults that hit single requests.
	Odds []Odds
	// Every is the mean time between two deeds.
	Every time.Duration
	// Deeds are what happens to servers and sessions, each as likely as the others.
	// List one twice to have it twice as often.
	Deeds []Deed
}

// Odds make the action of a rule hit some of its requests. Here Times 0 means no limit.
type Odds struct {
	Chance float64 // of a request to be hit: 0 never, 1 always
	Rule   Rule
}

// Happening is something that [Random] did.
type Happening struct {
	Time time.Time
	What string
}

// WithRandom makes the server, or the ensemble, fail by chance until [Server.Calm] or
// [Ensemble.Calm]. NewServer and StartEnsemble return an error for chances outside 0
// to 1, for deeds without Every, and for deeds that need an ensemble and have none;
// rules are checked as by [Server.Inject].
func WithRandom(r Random) Option {
	return func(c *config) { c.random = &r }
}

// simulation is a Random at work.
type simulation struct {
	Random
	cluster *cluster
	servers []*Server
	ens     *Ensemble  // nil for a server on its own
	dice    *rand.Rand // used by one deed after the other

	// Guarded by cluster.mu.
	counts []int // requests that matched each of the Odds
	hits   []int // and those that were hit
	calm   bool
	next   *alarm
	undo   []*remedy // in the order of their beginning
	log    []Happening
}

// remedy is the end of what a deed has begun.
type remedy struct {
	alarm *alarm
	do    func()
}

const defaultLatency = time.Millisecond

// simulate puts the configuration's Random to work, if there is one.
func (c *cluster) simulate(ens *Ensemble, servers ...*Server) error {
	if c.cfg.random == nil {
		return nil
	}
	sim := &simulation{
		Random: *c.cfg.random, cluster: c, servers: servers, ens: ens,
	}
	if sim.Latency == 0 {
		sim.Latency = defaultLatency
	}
	if err := sim.check(); err != nil {
		return err
	}
	sim.dice = sim.diceFor(0)
	sim.counts, sim.hits = make([]int, len(sim.Odds)), make([]int, len(sim.Odds))
	c.mu.Lock()
	defer c.unlock()
	c.secret, c.sim = sim.Seed, sim
	sim.schedule()
	return nil
}

func (sim *simulation) check() error {
	for _, o := range sim.Odds {
		o.Rule.check()
		if o.Chance < 0 || o.Chance > 1 {
			return fmt.Errorf("a chance of %v", o.Chance)
		}
	}
	for _, d := range sim.Deeds {
		switch {
		case d.do == nil:
			return fmt.Errorf("a Deed that does nothing")
		case d.ensemble && sim.ens == nil:
			return fmt.Errorf("deed %q needs an ensemble", d.name)
		case sim.Every <= 0:
			return fmt.Errorf("deeds every %v", sim.Every)
		}
	}
	return nil
}

// diceFor returns a source of chance of its own for key and moment.
func (sim *simulation) diceFor(key int64) *rand.Rand {
	return rand.New(rand.NewPCG(sim.Seed, uint64(key)^uint64(sim.cluster.clock.Now().UnixNano())))
}

// schedule sets the alarm for the next deed. cluster.mu is held.
func (sim *simulation) schedule() {
	if len(sim.Deeds) == 0 || sim.calm {
		return
	}
	wait := time.Duration(sim.dice.ExpFloat64() * float64(sim.Every))
	sim.next = sim.cluster.after(sim.cluster.slot(wait, 0), func() {
		d := sim.Deeds[sim.dice.IntN(len(sim.Deeds))]
		d.do(sim, d.name)
		sim.cluster.mu.Lock()
		defer sim.cluster.unlock()
		sim.schedule()
	})
}

// slot lengthens a wait so that it ends in a nanosecond that belongs to key: every
// client has its own in each microsecond.
func (c *cluster) slot(wait time.Duration, key int64) time.Duration {
	now := c.clock.Now()
	at := now.Add(max(wait, 0)).Truncate(time.Microsecond).Add(time.Duration(key % int64(time.Microsecond)))
	if !at.After(now) {
		at = at.Add(time.Microsecond)
	}
	return at.Sub(now)
}

// travel is the way of a request to the server. It reports false if the connection
// ended meanwhile.
func (c *conn) travel(x *exchange) bool {
	sim := c.srv.sim
	if sim == nil {
		return true
	}
	if c.dice == nil {
		c.srv.mu.Lock()
		if c.key = x.req.Session; c.key == 0 {
			c.key = c.seq
		}
		c.srv.mu.Unlock()
		c.dice = sim.diceFor(c.key)
	}
	wait := time.Duration(c.dice.Int64N(int64(sim.Latency) + 1))
	return pause(sim.cluster.clock, sim.cluster.slot(wait, 1+c.key%998), c.done)
}

// afflict adds the faults that chance wants. cluster.mu is held.
func (sim *simulation) afflict(f *faults, x *exchange) {
	for i, o := range sim.Odds {
		if !o.Rule.matches(x) {
			continue
		}
		hit := x.conn.dice.Float64() < o.Chance
		sim.counts[i]++
		if !hit || sim.calm || sim.counts[i] <= o.Rule.After || o.Rule.Times > 0 && sim.hits[i] >= o.Rule.Times {
			continue
		}
		sim.hits[i]++
		o.Rule.Do.apply(f)
		sim.note(fmt.Sprintf("odds %d hit %v %s of %#x", i, x.req.Op, x.req.Path, x.req.Session))
	}
}

// note writes a happening down. cluster.mu is held.
func (sim *simulation) note(what string) {
	sim.log = append(sim.log, Happening{sim.cluster.clock.Now(), what})
}

// begin writes down what is about to be done, and sees to its end after some of the
// time, if it has one.
func (sim *simulation) begin(what string, atMost time.Duration, end func()) {
	wait := time.Duration(0)
	if end != nil {
		wait = 1 + time.Duration(sim.dice.Int64N(int64(max(atMost, 1))))
		what = fmt.Sprintf("%s for %v", what, wait)
	}
	sim.cluster.mu.Lock()
	defer sim.cluster.unlock()
	sim.note(what)
	if end == nil {
		return
	}
	r := &remedy{do: end}
	sim.undo = append(sim.undo, r)
	r.alarm = sim.cluster.after(sim.cluster.slot(wait, 0), func() {
		sim.cluster.mu.Lock()
		sim.undo = slices.DeleteFunc(sim.undo, func(o *remedy) bool { return o == r })
		sim.cluster.unlock()
		end()
	})
}

// stop keeps everything from happening by itself. cluster.mu is held.
func (sim *simulation) stop() {
	sim.calm = true
	sim.next.stop()
	for _, r := range sim.undo {
		r.alarm.stop()
	}
}

// calmDown ends the faults and repairs what they have broken.
func (c *cluster) calmDown() {
	c.mu.Lock()
	var ends []func()
	if c.sim != nil {
		c.sim.stop()
		for _, r := range c.sim.undo {
			ends = append(ends, r.do)
		}
		c.sim.undo = nil
	}
	c.unlock()
	for _, end := range ends {
		end()
	}
}

// Calm ends what [WithRandom] has begun: there are no more faults and deeds, what is
// stopped, frozen, paused or cut is repaired, and black holes are healed. The latency
// stays. A simulation ends with it, and with a look at what the clients have made of
// it all.
func (s *Server) Calm() {
	s.calmDown()
	s.Heal()
}

// Calm is [Server.Calm] for an ensemble. Its members are connected and do not lag; if
// they have lost their leader, an election follows.
func (e *Ensemble) Calm() {
	e.calmDown()
	for _, m := range e.members {
		m.Heal()
	}
}

// Happenings returns what [WithRandom] has done so far, in order.
func (s *Server) Happenings() []Happening { return s.happenings() }

// Happenings returns what [WithRandom] has done so far, in order.
func (e *Ensemble) Happenings() []Happening { return e.happenings() }

func (c *cluster) happenings() []Happening {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sim == nil {
		return nil
	}
	return slices.Clone(c.sim.log)
}
