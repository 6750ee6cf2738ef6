package curatorz

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/state"
)

var fixtureTime = time.Date(2026, 1, 2, 15, 4, 5, 600e6, time.UTC)

const (
	evil       = "/locks/\x1b[31m\u202e\n<script>alert(1)</script>"
	firstNode  = "_c_fd3dab69-2382-4af7-b634-a8606fe6c97c-lock-0000000041"
	secondNode = "_c_0f0c1ef2-0d5b-4ab8-a59f-d9f1d2d3c3f6-lock-0000000042"
)

// fixture has an example of everything: a healthy client, a failing client, a closed
// client, and names that an attacker has made.
func fixture() moment {
	closed := source{service: "tool", status: framework.Status{Closed: true}}
	return moment{fixtureTime, []source{inGoodOrder(), inTrouble(), closed}}
}

func newPage() *page { return New().(*page) }

// serve returns a page that shows what a function returns.
func serve(take func() moment) *page {
	p := newPage()
	p.take = take
	return p
}

func before(d time.Duration) time.Time { return fixtureTime.Add(-d) }

func inGoodOrder() source {
	return source{
		service: "orders",
		status: framework.Status{
			Chroot: "/shop", State: state.Connected, Since: before(3 * time.Hour),
			Session: &framework.SessionStatus{
				ID: 0x1000a2b3c4d0001, Established: before(3 * time.Hour), Server: "zk1:2181", Timeout: 15 * time.Second,
				Left: 11200 * time.Millisecond, LastContact: before(2300 * time.Millisecond),
				ErrorPolicy: state.SessionPolicy, SafetyMargin: 0.1,
			},
			Servers: []framework.ServerStatus{
				{Address: "zk1:2181", Connected: true, Listed: true, Attempts: 1, Last: before(3 * time.Hour)},
				{Address: "主机:2181", Listed: true},
			},
			Watches: []framework.WatchStatus{{Path: "/shop/stock", Persistent: true, Recursive: true, Waiters: 2, Set: true}},
		},
		locks: []lock{
			{
				what: locktrace.Acquire{Recipe: "mutex", Name: "stock"}, path: "/shop/locks/sku-42", node: firstNode,
				token: 8589934670, since: before(73 * time.Second), granted: before(72 * time.Second), revoked: true,
			},
			{
				what: locktrace.Acquire{Recipe: "semaphore", Leases: 3}, path: "/shop/limits/mail", node: secondNode,
				token: 8589934672, since: before(time.Second), granted: before(time.Second),
			},
			{
				what: locktrace.Acquire{Recipe: "read_write_lock", Shared: true}, path: "/shop/locks/sku-43",
				since: before(10 * time.Minute), node: "x__READ__0000000007", does: blocked, seen: before(time.Minute),
				waiting: locktrace.Waiting{
					Position: 2,
					Ahead:    locktrace.Contender{Node: "x__WRIT__0000000006", Data: []byte("bills@web-2/99"), Since: before(11 * time.Minute)},
					Holder:   locktrace.Contender{Node: "x__WRIT__0000000001", Data: []byte("bills@web-3/7"), Since: before(time.Hour)},
				},
			},
			{
				what: locktrace.Acquire{Recipe: "mutex"}, path: "/shop/locks/sku-42", since: before(5 * time.Second),
				does: inLine, seen: before(5 * time.Second), waiting: locktrace.Waiting{Position: 1},
			},
			{what: locktrace.Acquire{Recipe: "mutex"}, path: evil, since: fixtureTime, does: starting},
		},
		registrations: []registration{
			{Path: "/shop/workers/w-1", Node: "/shop/workers/w-1", Czxid: 0x200000001, Since: before(3 * time.Hour)},
			{Path: "/shop/workers/w-2", Since: before(time.Minute), Err: errors.New("conflict with a node of session 0x5")},
		},
		caches: []tree{
			{Root: "/shop/stock", Stats: cache.Stats{Known: 300, Lag: 40 * time.Millisecond, Behind: 3, Resyncs: 1}, Zxid: 0x200000051},
			{Root: "/shop/prices", Stats: cache.Stats{Known: 10, ToRead: 90}},
			{Root: "/shop/secrets", Zxid: 0x200000050, Unreadable: 1, RootErr: errors.New("not authenticated")},
			{Root: "/shop/users", Stats: cache.Stats{Known: 7}, Zxid: 0x200000050, Unreadable: 1},
		},
		directories: []services{
			{"/shop/services", &discovery.Snapshot{Filled: true, Zxid: 0x200000051, Entries: manyInstances(), Bad: []*discovery.Bad{
				{Path: evil, Err: errors.New("not UTF-8")}, {Path: "/shop/services/x", Err: errors.New("no JSON object")},
			}}},
			{"/shop/services/mail", &discovery.Snapshot{Filled: true, Interrupted: true, Zxid: 5, Err: errors.New("not authenticated")}},
			{"/shop/services/stock", &discovery.Snapshot{Interrupted: true}},
		},
		events: []event{
			{
				at: before(time.Second), name: "lost", path: "/shop/locks/sku-7", kind: "leader latch", bad: true,
				text: "held for 1h: lock node deleted by someone else",
			},
			{at: before(time.Minute), name: "waiting", path: evil, kind: "mutex", text: "2 ahead, held by lock-0000000041"},
			{at: before(72 * time.Second), name: "acquired", path: "/shop/locks/sku-42", kind: `mutex "stock"`, text: "after 1.23ms"},
			{at: before(3 * time.Hour), name: "state", text: "connected to zk1:2181"},
			{at: before(30 * time.Hour), name: "state", text: "reconnected to zk2:2181"},
		},
	}
}

// manyInstances are the instances of mostShown+2 services; one instance drains.
func manyInstances() (all []*discovery.Entry) {
	for i := range mostShown + 2 {
		all = append(all, &discovery.Entry{Instance: discovery.Instance{Service: fmt.Sprintf("s-%02d", i), Disabled: i == 1}})
	}
	return all
}

func inTrouble() source {
	lost := errors.New("session lost: no answer within its time")
	return source{
		service: "bills",
		status: framework.Status{
			State: state.Lost, Since: before(90 * time.Second), Cause: errors.New("dial tcp: connection refused\n<b>not bold</b>"),
			Session: &framework.SessionStatus{
				ID: 0x2000a2b3c4d0009, Established: before(time.Hour), Server: "10.0.0.1:2181", Timeout: 15 * time.Second,
				Left: -76 * time.Second, LastContact: before(90 * time.Second), Ended: lost,
				ErrorPolicy: state.StandardPolicy, SafetyMargin: 0.25, StrictContact: true,
			},
			Servers: []framework.ServerStatus{{
				Address: "10.0.0.1:2181", Attempts: 12, Failures: 11, Last: before(time.Second), Err: errors.New("connection refused"),
			}},
			ServersProblem: errors.New("lookup zk-headless: no such host"),
			Watches:        []framework.WatchStatus{{Path: evil, Waiters: 1}},
		},
	}
}
