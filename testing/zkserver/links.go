package zkserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// WithLinks makes the servers of an ensemble talk to one another through this program, so that [Ensemble.Cut] can cut them
// off from one another while their clients still reach them. It has no effect on a standalone server.
//
// Every server is told other addresses of its peers than they have, and /zookeeper/config names those of the leader. A
// reconfiguration makes the servers use one set of addresses, and must not be tried.
func WithLinks() Option {
	return func(c *config) { c.links = true }
}

// ErrNoLinks is returned when links are to be cut or mended that are not there: the ensemble was started without
// [WithLinks], or the servers are not two of it.
var ErrNoLinks = errors.New("zkserver: no such links: the ensemble was started without WithLinks, or the servers are not two of it")

// links are the connections among the members of an ensemble.
type links struct {
	cancel context.CancelFunc
	relays sync.WaitGroup
	pairs  map[pair]*gate
}

// pair is two server ids, the lower one first.
type pair struct{ low, high int }

func pairOf(a, b int) pair { return pair{min(a, b), max(a, b)} }

// newLinks starts the relays for members, and changes the addresses under which each knows its peers to those of relays.
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

// relay starts relays from a member to the two ports of another, and puts their ports in the place of those.
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

// close ends all connections and returns when every goroutine has ended.
func (l *links) close() {
	l.cancel()
	l.relays.Wait()
}

// Cut cuts the link between two servers of the ensemble: from now on nothing gets through, in either direction, and
// neither is told. Their connections stay up and are silent, as behind a packet filter; new ones are made but lead
// nowhere. Clients are not concerned. What is on its way already may still arrive. Without [WithLinks] it returns
// [ErrNoLinks].
func (e *Ensemble) Cut(a, b *Server) error {
	if e.links == nil || !slices.Contains(e.Servers, a) || !slices.Contains(e.Servers, b) || a == b {
		return ErrNoLinks
	}
	e.links.pairs[pairOf(a.member.id, b.member.id)].setShut(true)
	return nil
}

// Isolate cuts the links of a server to all others; see [Ensemble.Cut].
func (e *Ensemble) Isolate(s *Server) error {
	for _, other := range e.Servers {
		if other == s {
			continue
		}
		if err := e.Cut(s, other); err != nil {
			return err
		}
	}
	return nil
}

// Mend undoes every Cut. What the servers have sent meanwhile on connections that are still up arrives now, late and in
// order; connections begun meanwhile are closed.
func (e *Ensemble) Mend() error {
	if e.links == nil {
		return ErrNoLinks
	}
	for _, g := range e.links.pairs {
		g.setShut(false)
	}
	return nil
}
