package zktest

import (
	"time"
)

// ChaosPlan makes a server or an ensemble fail by chance, see [WithChaos]. In a
// bubble of testing/synctest the same seed gives the same run, request by
// request, as long as the clients are deterministic: every request takes a time
// of its own on its way, so that no two are at the server at once, and all that
// is random is drawn from the seed.
//
// A client is not deterministic in these cases:
//
//   - Several of its goroutines make requests at the same instant.
//   - It uses random numbers of its own. go-zookeeper shuffles the addresses
//     that it is given: give it one, or a zk.HostProvider of your own.
//   - It opens its first session at the same instant as another client, which
//     the server cannot tell from it. Start one after the other.
type ChaosPlan struct {
	Seed uint64
	// Latency is the longest time that a request takes on its way to the
	// server, 1 millisecond if it is 0. Answers arrive at once.
	Latency time.Duration
	// Faults are faults that hit single requests.
	Faults []FaultRate
	// Every is the mean time between two disruptions.
	Every time.Duration
	// Disruptions are what happens to servers and sessions, each as likely as
	// the others. List one twice to have it twice as often.
	Disruptions []Disruption
}

// FaultRate makes the action of a rule hit some of its requests. Here Times 0
// means no limit.
type FaultRate struct {
	Chance float64 // how likely it is that a request is hit: 0 never, 1 always
	Rule   Rule
}

// Event is something that a [ChaosPlan] did.
type Event struct {
	Time time.Time
	What string
}

// WithChaos makes the server, or the ensemble, fail by chance until
// [Server.StopFaults] or [Ensemble.StopFaults]. A plan that makes no sense is
// an error: chances outside 0 to 1, disruptions without Every, disruptions that
// need an ensemble and have none, and rules that [Server.Inject] would refuse.
func WithChaos(plan ChaosPlan) Option {
	return func(c *config) { c.plan = &plan }
}
