package grpcresolver

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"

	"github.com/gocurator/curator/recipes/discovery"
)

// channel is the resolver of one channel. Its only goroutine tells the channel
// of the service: gRPC may hold it up, and then nobody else waits.
type channel struct {
	builder *Builder
	service *service
	target  target
	conn    resolver.ClientConn
	seed    maphash.Seed
	stop    context.CancelFunc
	done    chan struct{}
	closing sync.Once

	// The rest is for the goroutine alone.
	seen      *discovery.Snapshot // what endpoints and lack are of
	endpoints []resolver.Endpoint
	lack      error // why there are no endpoints
	config    config

	told       []resolver.Endpoint // nil before the first state
	toldConfig *serviceconfig.ParseResult
	since      time.Time // the beginning of the trouble; zero if there is none
	reported   string    // the error that the channel has now, or nothing
	hasTrouble bool      // reported is about trouble
}

func start(b *Builder, s *service, t target, cc resolver.ClientConn) *channel {
	ctx, stop := context.WithCancel(context.Background())
	c := &channel{
		builder: b, service: s, target: t, conn: cc,
		seed: maphash.MakeSeed(), stop: stop, done: make(chan struct{}),
	}
	go c.run(ctx)
	return c
}

// ResolveNow does nothing: the directory hears of changes by itself.
func (c *channel) ResolveNow(resolver.ResolveNowOptions) {}

// Close ends the resolver, and waits until nothing of it goes on. A second call
// must not give back what other channels use.
func (c *channel) Close() {
	c.closing.Do(func() {
		c.stop()
		<-c.done
		c.builder.release(c.service)
	})
}

func (c *channel) run(ctx context.Context) {
	defer close(c.done)
	for {
		next := c.service.next()
		var due <-chan time.Time
		if again := c.look(time.Now()); !again.IsZero() {
			due = time.After(time.Until(again))
		}
		select {
		case <-next:
		case <-due:
		case <-ctx.Done():
			return
		}
	}
}

// look tells the channel what is new. It returns when to look again, if nothing has
// changed by then: it is zero for never.
func (c *channel) look(now time.Time) (again time.Time) {
	trouble := c.service.trouble()
	if s, known := c.service.list(); known {
		c.take(s)
		c.tell(trouble == nil && c.hasTrouble)
	}
	if trouble != nil {
		return c.reportTrouble(trouble, now)
	}
	c.since = time.Time{}
	switch {
	case c.lack != nil:
		c.report(c.lack)
	case c.config.fault != nil:
		c.report(c.config.fault)
	}
	return time.Time{}
}

// take looks at a snapshot, and at the service config.
func (c *channel) take(s *discovery.Snapshot) {
	if s != c.seen {
		c.seen = s
		c.endpoints, c.lack = c.target.endpoints(s, c.seed)
	}
	if c.service.config != nil {
		c.config.read(c.service.config.text(), c.conn)
	}
}

// tell tells the channel what has changed, or again what it knows. A channel
// that has never had an instance gets an error instead of an empty list: most
// balancers do not show an error that follows an empty list.
func (c *channel) tell(again bool) {
	isOld := slices.EqualFunc(c.told, c.endpoints, isSame) && c.toldConfig == c.config.good
	if isOld && !again || c.told == nil && len(c.endpoints) == 0 {
		return
	}
	c.told, c.toldConfig = slices.Clone(c.endpoints), c.config.good
	if c.told == nil {
		c.told = []resolver.Endpoint{}
	}
	c.reported, c.hasTrouble = "", false
	// The error means that the balancer can do nothing with the state. Trying
	// again is no cure: the next change is.
	_ = c.conn.UpdateState(stateOf(c.told, c.toldConfig))
}

// stateOf also has the addresses alone: balancers that are made with gRPC's
// package balancer/base know no endpoints.
func stateOf(endpoints []resolver.Endpoint, config *serviceconfig.ParseResult) resolver.State {
	s := resolver.State{Endpoints: endpoints, ServiceConfig: config}
	for _, e := range endpoints {
		s.Addresses = append(s.Addresses, e.Addresses...)
	}
	return s
}

// report tells the channel of an error, once.
func (c *channel) report(err error) {
	err = c.target.named(err)
	if err.Error() == c.reported {
		return
	}
	c.reported = err.Error()
	c.conn.ReportError(err)
}
