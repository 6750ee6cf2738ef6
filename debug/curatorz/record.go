package curatorz

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
)

// record is a page's record of one client.
type record struct {
	client    framework.Extension   // the root view
	number    int                   // in the order in which the clients were made
	begun     int                   // how many acquires have begun
	locks     map[*lock]struct{}    // removed when the acquire fails or the hold ends
	followers map[any]func(*source) // by node, cache or directory until its end; the function adds its state
	events    history
}

// moment is the state of all clients at one time.
type moment struct {
	now     time.Time
	clients []source
}

// source is the state of a client at one time. Each part is consistent in itself, but
// the parts are read one after the other: a lock that is granted or handed over
// meanwhile may appear twice or not at all.
type source struct {
	service       string
	status        framework.Status
	locks         []lock
	registrations []registration
	caches        []tree
	directories   []services
	events        []event
}

// moment copies the records under the page's mutex. Then it asks clients, nodes, caches
// and directories for their state, without that mutex: they may call the page with
// their own mutexes held.
func (p *page) moment() moment {
	m := moment{now: time.Now()}
	var followers [][]func(*source)
	p.mu.Lock()
	records := slices.Concat(p.closed, slices.Collect(maps.Values(p.open)))
	slices.SortFunc(records, func(a, b *record) int { return cmp.Compare(a.number, b.number) })
	for _, r := range records {
		s := source{events: r.events.all()}
		for l := range r.locks {
			s.locks = append(s.locks, *l)
		}
		m.clients = append(m.clients, s)
		followers = append(followers, slices.Collect(maps.Values(r.followers)))
	}
	p.mu.Unlock()
	for i, r := range records {
		s := &m.clients[i]
		s.service, s.status = r.client.ServiceName(), r.client.Status()
		for _, ask := range followers[i] {
			ask(s)
		}
	}
	return m
}
