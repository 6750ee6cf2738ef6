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

// channel is the resolver of one gRPC channel. Each channel is updated from its own
// goroutine, so that a blocked update delays no other channel.
type channel struct {
	builder *Builder
	service *service
	target  target
	conn    resolver.ClientConn
	seed    maphash.Seed
	stop    context.CancelFunc
	done    chan struct{}
	closing sync.Once

	// The following fields belong to the goroutine.
	seen      *discovery.Snapshot // the snapshot of endpoints and lack
	endpoints []resolver.Endpoint
	lack      error // why there are no endpoints
	config    config

	told       []resolver.Endpoint // the endpoints of the channel's last state; nil before the first
	toldConfig *serviceconfig.ParseResult
	since      time.Time // when the current outage began, or zero
	reported   string    // the last error that the channel received, or empty
	hasOutage  bool      // whether reported is about an outage
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

// ResolveNow does nothing, because the directory follows all changes.
func (c *channel) ResolveNow(resolver.ResolveNowOptions) {}

// Close ends the resolver, and waits until its goroutine has ended. A second call must not
// release the service that other channels use.
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

// look updates the channel. It returns the time of the next call if nothing changes before,
// or zero if none is needed.
func (c *channel) look(now time.Time) (again time.Time) {
	outage := c.service.outage()
	if s, known := c.service.list(); known {
		c.take(s)
		c.tell(outage == nil && c.hasOutage)
	}
	if outage != nil {
		return c.reportOutage(outage, now)
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

// take takes over a snapshot and the service config.
func (c *channel) take(s *discovery.Snapshot) {
	if s != c.seen {
		c.seen = s
		c.endpoints, c.lack = c.target.endpoints(s, c.seed)
	}
	if c.service.config != nil {
		c.config.read(c.service.config.text(), c.conn)
	}
}

// tell sends the channel its new state, if it has changed or again is true. A channel that has
// never had an instance receives an error instead of an empty list, because most balancers do
// not show an error that follows an empty list.
func (c *channel) tell(again bool) {
	isOld := slices.EqualFunc(c.told, c.endpoints, isSame) && c.toldConfig == c.config.good
	if isOld && !again || c.told == nil && len(c.endpoints) == 0 {
		return
	}
	c.told, c.toldConfig = slices.Clone(c.endpoints), c.config.good
	if c.told == nil {
		c.told = []resolver.Endpoint{}
	}
	c.reported, c.hasOutage = "", false
	// The error means that the balancer cannot use the state. A repetition would not help;
	// the next change may.
	_ = c.conn.UpdateState(stateOf(c.told, c.toldConfig))
}

// stateOf returns a state with both endpoints and addresses, because balancers that are built
// with gRPC's package balancer/base ignore endpoints.
func stateOf(endpoints []resolver.Endpoint, config *serviceconfig.ParseResult) resolver.State {
	s := resolver.State{Endpoints: endpoints, ServiceConfig: config}
	for _, e := range endpoints {
		s.Addresses = append(s.Addresses, e.Addresses...)
	}
	return s
}

// report sends the channel an error, once.
func (c *channel) report(err error) {
	err = c.target.named(err)
	if err.Error() == c.reported {
		return
	}
	c.reported = err.Error()
	c.conn.ReportError(err)
}
