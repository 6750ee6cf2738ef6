package grpcresolver

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"google.golang.org/grpc/resolver"

	"github.com/gocurator/curator/recipes/discovery"
)

// selection has the instances of a snapshot that a channel uses, and counts the others
// by reason.
type selection struct {
	near, all []resolver.Endpoint // ordered by ID; near has the zone's instances
	inZone    map[string]bool     // the zone's addresses, or IDs of instances without an address

	draining, unusable int
}

// endpoints returns the endpoints of a snapshot for one channel. Their order depends only on the
// seed and the addresses, so each channel keeps its own order. If there are no endpoints, the
// error says why.
func (t target) endpoints(s *discovery.Snapshot, seed maphash.Seed) ([]resolver.Endpoint, error) {
	picked := t.pick(s)
	chosen := picked.preferred()
	if len(chosen) == 0 {
		return nil, picked.lack(t, s)
	}
	order := func(e resolver.Endpoint) uint64 { return maphash.String(seed, e.Addresses[0].Addr) }
	slices.SortFunc(chosen, func(a, b resolver.Endpoint) int { return cmp.Compare(order(a), order(b)) })
	return chosen, nil
}

// pick returns the instances that do not drain and can be dialed. Of several instances
// with the same address, only the newest node counts: the processes of the older nodes
// have ended, and their sessions have not timed out yet.
func (t target) pick(s *discovery.Snapshot) selection {
	picked, newest := selection{inZone: map[string]bool{}}, t.newest(s)
	for _, e := range s.Entries {
		address, usable := t.addressOf(e)
		if usable && newest[address] != e {
			continue
		}
		near := t.zone != "" && e.Metadata[zoneLabel] == t.zone
		if near {
			picked.inZone[cmp.Or(address, e.ID)] = true
		}
		switch {
		case e.Disabled:
			picked.draining++
		case !usable:
			picked.unusable++
		default:
			one := endpoint(address, e)
			picked.all = append(picked.all, one)
			if near {
				picked.near = append(picked.near, one)
			}
		}
	}
	return picked
}

// newest returns the newest instance of each address.
func (t target) newest(s *discovery.Snapshot) map[string]*discovery.Entry {
	newest := make(map[string]*discovery.Entry, len(s.Entries))
	for _, e := range s.Entries {
		address, usable := t.addressOf(e)
		if other := newest[address]; usable && (other == nil || e.Since > other.Since) {
			newest[address] = e
		}
	}
	return newest
}

// zoneLabel is the label whose value the parameter zone names.
const zoneLabel = "zone"

// preferred returns the instances of the zone. If fewer than half of the zone's
// instances can be used, preferred returns all instances: the few would be overloaded.
func (s selection) preferred() []resolver.Endpoint {
	if len(s.near) > 0 && 2*len(s.near) >= len(s.inZone) {
		return s.near
	}
	return s.all
}

// lack returns the reason why there is no instance.
func (s selection) lack(t target, of *discovery.Snapshot) error {
	var reasons []string
	if s.draining > 0 {
		reasons = append(reasons, fmt.Sprintf("draining: %d", s.draining))
	}
	if s.unusable > 0 {
		reasons = append(reasons, fmt.Sprintf("without a host or a %s to dial: %d", t.portName(), s.unusable))
	}
	if len(of.Bad) > 0 {
		reasons = append(reasons, fmt.Sprintf("malformed: %d, such as %q: %v", len(of.Bad), of.Bad[0].Path, of.Bad[0].Err))
	}
	if len(reasons) == 0 {
		return errors.New("no instance is registered")
	}
	return errors.New("no instance to call: " + strings.Join(reasons, ", "))
}
