package curatorz

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/state"
)

var fixtureTime = time.Date(2026, 1, 2, 15, 4, 5, 600e6, time.UTC)

const (
	evil       = "/locks/\x1b[31m\u202e\n<script>alert(1)</script>"
	firstNode  = "_c_fd3dab69-2382-4af7-b634-a8606fe6c97c-lock-0000000041"
	secondNode = "_c_0f0c1ef2-0d5b-4ab8-a59f-d9f1d2d3c3f6-lock-0000000042"
)

// fixture has something of everything: a client in good order, one in trouble, one
// that has recorded nothing, and names that an attacker has made.
func fixture() moment {
	closed := source{service: "tool", status: framework.Status{Closed: true}, since: before(time.Minute)}
	return moment{fixtureTime, []source{inGoodOrder(), inTrouble(), closed}}
}

func before(d time.Duration) time.Time { return fixtureTime.Add(-d) }

func inGoodOrder() source {
	ended := flight.End{Ended: before(5 * time.Minute), Why: errors.New("not authorized")}
	return source{
		service: "orders", since: before(31 * time.Hour),
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
		records: []flight.View{
			{
				What: flight.What{Path: "/shop/locks/sku-42", Recipe: "mutex", Name: "stock"}, Stage: flight.Held, Node: firstNode,
				Token: 8589934670, Since: before(73 * time.Second), Granted: before(72 * time.Second), Revoked: true,
			},
			{
				What:  flight.What{Path: "/shop/limits/mail", Recipe: "semaphore", Leases: 3},
				Stage: flight.Releasing, Node: secondNode, Token: 8589934672, Since: before(time.Second), Granted: before(time.Second),
			},
			{
				What:  flight.What{Path: "/shop/locks/sku-43", Recipe: "read_write_lock", Shared: true},
				Stage: flight.Blocked, Since: before(10 * time.Minute), Ahead: 2, Seen: before(time.Minute), Node: "x__READ__0000000007",
				Neighbour: flight.Contender{Node: "x__WRIT__0000000006", Data: []byte("bills@web-2/99"), Since: before(11 * time.Minute)},
				Holder:    flight.Contender{Node: "x__WRIT__0000000001", Data: []byte("bills@web-3/7"), Since: before(time.Hour)},
			},
			{
				What:  flight.What{Path: "/shop/locks/sku-42", Recipe: "mutex"},
				Stage: flight.InProcess, Since: before(5 * time.Second), Ahead: 1, Seen: before(5 * time.Second),
				Holder: flight.Contender{Node: firstNode, Since: before(73 * time.Second)},
			},
			{What: flight.What{Path: evil, Recipe: "mutex"}, Since: fixtureTime},
		},
		registrations: []flight.Registration{
			{Path: "/shop/workers/w-1", Node: "/shop/workers/w-1", Czxid: 0x200000001, Changed: before(3 * time.Hour)},
			{Path: "/shop/workers/w-0", Changed: before(time.Hour), End: ended},
			{Path: "/shop/workers/w-2", Changed: before(time.Minute), Err: errors.New("conflict with a node of session 0x5")},
			{Path: "/shop/workers/w-3", Node: "/shop/workers/w-3", Czxid: 0x200000003, Deleting: true},
			{
				Path: "/shop/services/orders/a3", Node: "/shop/services/orders/a3", Czxid: 0x200000004, Changed: before(time.Hour),
				Instance: &flight.Instance{Service: "orders", ID: "a3", Address: "2001:db8::7", TLSPort: 8443, Drains: true},
			},
		},
		caches: []flight.Cache{
			{Root: "/shop/stock", Synced: true, Nodes: 300, Zxid: 0x200000051, Lag: 40 * time.Millisecond, Behind: 3, Resyncs: 1},
			{Root: "/shop/prices", Nodes: 10, ToRead: 90},
			{Root: "/shop/secrets", Synced: true, Zxid: 0x200000050, Unreadable: 1, RootErr: errors.New("not authenticated")},
			{Root: "/shop/users", Synced: true, Nodes: 7, Zxid: 0x200000050, Unreadable: 1},
		},
		directories: []flight.Directory{
			{
				Root: "/shop/services", Filled: true, Zxid: 0x200000051, Services: manyServices(),
				Bad: []flight.BadNode{
					{Path: "/shop/services/bills/x", Err: errors.New("no JSON object: garbage")}, {Path: evil, Err: errors.New("not UTF-8")},
				},
			},
			{Root: "/shop/services/mail", Filled: true, Interrupted: true, Zxid: 0x200000050, Err: errors.New("not authenticated")},
			{Root: "/shop/services/stock", Interrupted: true},
		},
		events: []flight.Event{
			{Time: before(30 * time.Hour), Kind: flight.StateChanged, Name: "RECONNECTED", Other: "zk2:2181"},
			{Time: before(3 * time.Hour), Kind: flight.StateChanged, Name: "CONNECTED", Other: "zk1:2181"},
			{
				Time: before(72 * time.Second), Kind: flight.Acquired, Path: "/shop/locks/sku-42", Recipe: "mutex", Name: "stock",
				Node: firstNode, Took: 1234 * time.Microsecond,
			},
			{Time: before(time.Minute), Kind: flight.Waiting, Path: evil, Recipe: "mutex", Count: 2, Other: firstNode},
			{
				Time: before(time.Second), Kind: flight.HoldLost, Path: "/shop/locks/sku-7", Recipe: "leader_latch", Node: firstNode,
				Took: time.Hour, Err: errors.New("lock node deleted by someone else"),
			},
		},
	}
}

func manyServices() []flight.Service {
	all := []flight.Service{{Name: "bills", Instances: 3, Drained: 1}, {Name: "orders", Instances: 4}}
	for i := range mostShown {
		all = append(all, flight.Service{Name: fmt.Sprintf("s-%02d", i), Instances: 1})
	}
	return all
}

func inTrouble() source {
	lost := errors.New("session lost: no answer within its time")
	ended := flight.End{Ended: before(5 * time.Minute), Why: errors.New("not authorized")}
	return source{
		service: "bills", since: before(3 * time.Hour),
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
		records: []flight.View{{
			What: flight.What{Path: "/jobs/bill", Recipe: "leader_selector"}, Stage: flight.Lost, Node: "n-0000000003", Token: 77,
			Since: before(80 * time.Minute), Granted: before(time.Hour), Err: lost,
		}},
		caches:      []flight.Cache{{Root: "/rates", Synced: true, Nodes: 1, Zxid: 5, End: ended}},
		directories: []flight.Directory{{Root: "/rates", Filled: true, Zxid: 5, End: ended}},
	}
}
