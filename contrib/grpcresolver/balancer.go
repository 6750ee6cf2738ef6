package grpcresolver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/balancer/endpointsharding"
	"google.golang.org/grpc/balancer/pickfirst"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/status"

	"github.com/gocurator/curator/recipes/discovery"
)

// RegisterBalancer makes a balancing policy of a strategy, and registers it with
// gRPC under a name, which service configs then have:
//
//	err := grpcresolver.RegisterBalancer("power_of_two", discovery.PowerOfTwo())
//	...
//	grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"power_of_two": {}}]}`)
//
// Call it before there is a channel, in an init function or first in main: gRPC's
// table of policies has no lock. Of two with one name, the later one counts.
//
// Each channel of the policy has a discovery.Picker for the instances to which it
// has a connection. The Picker sees how each attempt of a call ends, and takes out
// who fails, as discovery.WithEjection says. The log, the flight recorder and the
// hooks of the client are told of that. An instance that loses its connection is
// not picked, and stays out for as long as it was to be.
//
// By default, these codes count against an instance: Unknown, DeadlineExceeded,
// Unimplemented, Internal, Unavailable and DataLoss. With those, OpenTelemetry
// blames the server and not the caller. Another choice is discovery.WithFailures,
// whose function gets errors of package status, and context.Canceled for an
// attempt that was not made.
//
// What cannot be used is an error that matches zk.ErrBadArguments.
func RegisterBalancer(name string, s discovery.Strategy, opts ...discovery.PickerOption) error {
	p := policy{name, s, append([]discovery.PickerOption{discovery.WithFailures(blamesServer)}, opts...)}
	if name == "" {
		return fmt.Errorf("balancing policy: the name must not be empty: %w", zk.ErrBadArguments)
	}
	if _, err := p.newPicker(nil); err != nil {
		return fmt.Errorf("balancing policy %q: %w", name, err)
	}
	balancer.Register(p)
	return nil
}

// keyOfCall is the key of WithKey in contexts.
type keyOfCall struct{}

// WithKey returns a context for calls that go to the same instance as all others
// with the key, if the policy of the channel picks by keys: see
// RegisterBalancer and discovery.Rendezvous.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOfCall{}, key)
}

// blamesServer is as OpenTelemetry's conventions for spans of gRPC servers.
func blamesServer(err error) bool {
	if errors.Is(err, context.Canceled) { //nolint:forbidigo // gRPC's errors have no cause of a context
		return false
	}
	switch status.Code(err) {
	case codes.Unknown, codes.DeadlineExceeded, codes.Unimplemented, codes.Internal, codes.Unavailable, codes.DataLoss:
		return true
	}
	return false
}

// policy builds the balancers of RegisterBalancer.
type policy struct {
	name     string
	strategy discovery.Strategy
	opts     []discovery.PickerOption
}

// Name implements balancer.Builder.
func (p policy) Name() string { return p.name }

// Build implements balancer.Builder.
func (p policy) Build(cc balancer.ClientConn, opts balancer.BuildOptions) balancer.Balancer {
	c := &children{ClientConn: cc, policy: p}
	return &parent{endpointsharding.NewBalancer(c, opts, balancer.Get(pickfirst.Name).Build, endpointsharding.Options{}), c}
}

// newPicker returns a Picker for the instances of a directory, if there is one.
func (p policy) newPicker(from *discovery.Directory) (*discovery.Picker, error) {
	opts := p.opts
	if from != nil {
		opts = append(slices.Clone(opts), discovery.WithDirectory(from))
	}
	return discovery.NewPicker(p.strategy, opts...)
}

// parent is the balancer of a channel. It has a child of gRPC's for each endpoint,
// which keeps a connection.
type parent struct {
	balancer.Balancer
	children *children
}

// UpdateClientConnState implements balancer.Balancer. Children look at
// healthCheckConfig, as those of round robin do.
func (p *parent) UpdateClientConnState(s balancer.ClientConnState) error {
	if err := p.children.begin(directoryOf(s.ResolverState)); err != nil {
		return err
	}
	return p.Balancer.UpdateClientConnState(balancer.ClientConnState{
		ResolverState: pickfirst.EnableHealthListener(s.ResolverState),
	})
}

// children makes one choice of what the children offer. gRPC calls its methods one
// after the other.
type children struct {
	balancer.ClientConn
	policy policy
	picker *discovery.Picker // nil before the first list
}

// begin makes the Picker, once.
func (c *children) begin(from *discovery.Directory) (err error) {
	if c.picker == nil {
		c.picker, err = c.policy.newPicker(from)
	}
	return err
}

// UpdateState implements balancer.ClientConn: a child's state is new. Without a
// connection, the channel has what gRPC makes of the states.
func (c *children) UpdateState(s balancer.State) {
	var all []discovery.Instance
	ready := map[string]balancer.Picker{}
	for _, child := range endpointsharding.ChildStatesFromPicker(s.Picker) {
		i := instanceOf(child.Endpoint)
		if child.State.ConnectivityState == connectivity.Ready {
			ready[i.ID] = child.State.Picker
		} else {
			i.Disabled = true
		}
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b discovery.Instance) int { return cmp.Compare(a.ID, b.ID) })
	if c.picker != nil {
		c.picker.Update(all)
	}
	if len(ready) > 0 {
		s.Picker = &choice{c.picker, ready}
	}
	c.ClientConn.UpdateState(s)
}

// instanceOf returns the instance of an endpoint, which may be another resolver's.
// All addresses of such a one are its identity, in any order. There may be none.
func instanceOf(e resolver.Endpoint) discovery.Instance {
	if entry := InstanceOf(e); entry != nil {
		return entry.Instance
	}
	var addresses []string
	for _, a := range e.Addresses {
		addresses = append(addresses, a.Addr)
	}
	slices.Sort(addresses)
	return discovery.Instance{ID: strings.Join(addresses, " ")}
}

// choice chooses an instance for each attempt of a call.
type choice struct {
	picker *discovery.Picker
	ready  map[string]balancer.Picker // the children with a connection, by the IDs of their instances
}

// Pick implements balancer.Picker. The instances may be newer than the choice:
// gRPC asks the next one then.
func (c *choice) Pick(info balancer.PickInfo) (balancer.PickResult, error) {
	key, _ := info.Ctx.Value(keyOfCall{}).(string)
	i, request, err := c.picker.PickFor(key)
	if err != nil {
		return balancer.PickResult{}, balancer.ErrNoSubConnAvailable
	}
	result, err := c.connectionTo(i, info)
	if err != nil {
		request.Done(context.Canceled)
		return result, err
	}
	before := result.Done
	result.Done = func(end balancer.DoneInfo) {
		if before != nil {
			before(end)
		}
		request.Done(outcomeOf(end))
	}
	return result, nil
}

// outcomeOf returns how an attempt has ended. What was not sent says nothing of the
// instance: gRPC makes the attempt again on a connection that is not closing, or
// the caller's credentials or headers are at fault.
func outcomeOf(end balancer.DoneInfo) error {
	if !end.BytesSent {
		return context.Canceled
	}
	return end.Err
}

func (c *choice) connectionTo(i discovery.Instance, info balancer.PickInfo) (balancer.PickResult, error) {
	child := c.ready[i.ID]
	if child == nil {
		return balancer.PickResult{}, balancer.ErrNoSubConnAvailable
	}
	return child.Pick(info)
}
