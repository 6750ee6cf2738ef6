package zkserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// WithLinks routes the traffic between the servers of an ensemble through this
// program, so that [Ensemble.Partition] can cut servers off from one another
// while their clients still reach them. It has no effect on a standalone
// server.
//
// Each server knows its peers by the addresses of relays, and /zookeeper/config
// lists the addresses that the leader knows. Do not reconfigure such an
// ensemble: a reconfiguration gives all servers one set of addresses.
func WithLinks() Option {
	return func(c *config) { c.links = true }
}

// errNoLinks is returned by [Ensemble.Partition] and [Ensemble.Heal] if the
// ensemble was started without [WithLinks].
var errNoLinks = errors.New("zkserver: no links to cut or to heal: " +
	"the ensemble was started without WithLinks")

// links are the connections between the members of an ensemble.
type links struct {
	cancel context.CancelFunc
	relays sync.WaitGroup
	pairs  map[pair]*gate
}

// pair is two server ids, with the lower one first.
type pair struct{ low, high int }

func pairOf(a, b int) pair { return pair{min(a, b), max(a, b)} }

// newLinks starts the relays for members. Each member has addresses for its
// peers; newLinks replaces them with the relays' addresses.
func newLinks(members []member) (*links, error) {
	ctx, cancel := context.WithCancel(context.Background())
	l := &links{cancel: cancel, pairs: make(map[pair]*gate)}
	for i := range members {
		from := &members[i]
		from.peers = slices.Clone(from.peers)
		for j := range from.peers {
			if to := &from.peers[j]; to.id != from.id {
				if err := l.addRelays(ctx, from.id, to); err != nil {
					l.close()
					return nil, fmt.Errorf("zkserver: link: %w", err)
				}
			}
		}
	}
	return l, nil
}

// addRelays starts relays from one member to the two ports of another, and
// replaces these ports with the relays' ports.
func (l *links) addRelays(ctx context.Context, from int, to *member) error {
	key := pairOf(from, to.id)
	if l.pairs[key] == nil {
		l.pairs[key] = newGate()
	}
	for _, r := range []struct {
		port  *int
		greet handshakeFunc
	}{{&to.quorum, nil}, {&to.election, withoutAddress}} {
		port, err := startRelay(ctx, &l.relays, l.pairs[key], local(*r.port), r.greet)
		if err != nil {
			return err
		}
		*r.port = port
	}
	return nil
}

// close ends all connections, and returns after every goroutine has ended.
func (l *links) close() {
	l.cancel()
	l.relays.Wait()
}

// Partition cuts the network between the given servers and all others of the ensemble.
// The given servers stay connected to each other, unless an earlier call has cut them
// apart: a further call only adds cuts. [Ensemble.Heal] ends all cuts.
//
// From then on no data passes in either direction, and no server is told.
// Existing connections stay up but are silent, as behind a packet filter. New
// connections are accepted but lead nowhere. Data that is already under way may
// still arrive. Clients are not affected.
//
// It is an error to have started the ensemble without [WithLinks]. The servers must
// be of this ensemble.
func (e *Ensemble) Partition(servers ...*Server) error {
	if e.links == nil {
		return errNoLinks
	}
	for _, a := range servers {
		for _, b := range e.servers {
			if !slices.Contains(servers, b) {
				e.links.pairs[pairOf(a.member.id, b.member.id)].setShut(true)
			}
		}
	}
	return nil
}

// Heal ends every [Ensemble.Partition]. Data that the servers sent meanwhile on
// connections that are still up arrives now, late but in order. Connections
// that were made meanwhile are closed. If there is no partition, Heal does
// nothing. Without [WithLinks], it is an error.
func (e *Ensemble) Heal() error {
	if e.links == nil {
		return errNoLinks
	}
	for _, g := range e.links.pairs {
		g.setShut(false)
	}
	return nil
}
