package snapshot

import "time"

// fixture is a snapshot that has something of everything: a client in good
// order, one in trouble, one that records nothing, and names that somebody with
// bad intentions has made.
func fixture() Snapshot {
	now := time.Date(2026, 1, 2, 15, 4, 5, 600e6, time.UTC)
	return Snapshot{
		Version: Version, Time: now,
		Process: Process{Program: "orders", Host: "web-1", PID: 4711, GoVersion: "go1.26", Goroutines: 42},
		Clients: []Client{inGoodOrder(now), inTrouble(now), silent(now)},
	}
}

const (
	evil       = "/locks/\x1b[31m\u202e\n<script>alert(1)</script>"
	firstNode  = "_c_fd3dab69-2382-4af7-b634-a8606fe6c97c-lock-0000000041"
	secondNode = "_c_0f0c1ef2-0d5b-4ab8-a59f-d9f1d2d3c3f6-lock-0000000042"
)

func inGoodOrder(now time.Time) Client {
	before := func(d time.Duration) time.Time { return now.Add(-d) }
	return Client{
		Service: "orders", Chroot: "/shop", Recorded: true,
		State: State{Name: "connected", Since: before(3 * time.Hour)},
		Session: &Session{
			ID: "0x1000a2b3c4d0001", Epoch: 1, Established: before(3 * time.Hour), Server: "zk1:2181",
			Timeout: Seconds(15 * time.Second), Left: Seconds(11200 * time.Millisecond), LastContact: before(2300 * time.Millisecond),
			ErrorPolicy: "SessionPolicy", SafetyMargin: 0.1,
		},
		Servers: []Server{
			{Address: "zk1:2181", Connected: true, Listed: true, Attempts: 1, Last: before(3 * time.Hour)},
			{Address: "zk2:2181", Listed: true},
		},
		Watches:    List[Watch]{1, []Watch{{Path: "/shop/stock", Kind: "persistent recursive", Waiters: 2, Set: true}}},
		WatchesSet: 1,
		Holds: List[Hold]{2, []Hold{
			{
				Path: "/shop/locks/sku-42", Recipe: "mutex", Name: "stock", Node: firstNode, Token: 8589934670,
				Since: before(72 * time.Second), Waited: Seconds(1234 * time.Microsecond), Waiting: 1, Revoked: true,
			},
			{
				Path: "/shop/limits/mail", Recipe: "semaphore", Leases: 3, Node: secondNode, Token: 8589934672,
				Since: before(time.Second), Releasing: true,
			},
		}},
		Waits: List[Wait]{1500, []Wait{
			{
				Path: "/shop/locks/sku-43", Recipe: "read_write_lock", Shared: true, Since: before(10 * time.Minute),
				Stage: "waiting", Ahead: 2, Seen: before(time.Minute), Node: "x__READ__0000000007",
				Next:   &Contender{Node: "x__WRIT__0000000006", ID: "bills@web-2/99", Since: before(11 * time.Minute)},
				Holder: &Contender{Node: "x__WRIT__0000000001", ID: "bills@web-3/7", Since: before(time.Hour)},
			},
			{
				Path: "/shop/locks/sku-42", Recipe: "mutex", Since: before(5 * time.Second), Stage: "in process", Ahead: 1, Seen: before(5 * time.Second),
				Holder: &Contender{Node: firstNode, ID: "orders@web-1/4711", Since: before(73 * time.Second), Local: true},
			},
			{Path: evil, Recipe: "mutex", Since: now, Stage: "starting"},
		}},
		Registrations: List[Registration]{4, []Registration{
			{Path: "/shop/workers/w-0", Since: before(time.Hour), Trouble: "not authorized", Ended: before(5 * time.Minute)},
			{Path: "/shop/workers/w-1", Node: "/shop/workers/w-1", Registered: true, Czxid: 0x200000001, Since: before(3 * time.Hour)},
			{Path: "/shop/workers/w-2", Since: before(time.Minute), Trouble: "conflict with a node of session 0x5"},
			{Path: "/shop/workers/w-3", Node: "/shop/workers/w-3", Czxid: 0x200000003, Since: before(2 * time.Second), Deleting: true},
		}},
		Caches: List[Cache]{3, []Cache{
			{Root: "/shop/prices", Nodes: 10, ToRead: 90},
			{Root: "/shop/secrets", Synced: true, Zxid: 0x200000050, Unreadable: 1, Trouble: "not authenticated"},
			{Root: "/shop/stock", Synced: true, Nodes: 300, Zxid: 0x200000051, Lag: Seconds(40 * time.Millisecond), Behind: 3, Resyncs: 1},
		}},
		Instances: List[Instance]{4, []Instance{
			{Service: "orders", ID: "a1", Address: "10.0.0.7", Port: 8080, State: "registered", Node: "/shop/services/orders/a1", Since: before(3 * time.Hour)},
			{Service: "orders", ID: "a2", Address: "2001:db8::7", TLSPort: 8443, State: "missing", Node: "/shop/services/orders/a2", Since: before(3 * time.Hour), Trouble: "the disk is full"},
			{Service: "orders", ID: "a3", Address: "10.0.0.7", Port: 8082, State: "draining", Node: "/shop/services/orders/a3", Since: before(time.Hour)},
			{Service: "orders", ID: evil, State: "conflict", Node: "/shop/services/orders/a4", Since: before(time.Minute), Trouble: "an instance at \"10.0.0.9\" has the ID"},
		}},
		Directories: List[Directory]{3, []Directory{
			{Root: "/shop/services", Filled: true, Zxid: 0x200000051, Instances: 40, Services: List[Service]{21, []Service{
				{Name: "bills", Instances: 3, Drained: 1}, {Name: "orders", Instances: 4},
			}}, Malformed: List[Bad]{2, []Bad{{Path: "/shop/services/bills/x", Problem: "no JSON object: garbage"}, {Path: evil, Problem: "not UTF-8"}}}},
			{Root: "/shop/services/mail", Filled: true, Interrupted: true, Zxid: 0x200000050, Services: none[Service](), Malformed: none[Bad](), Trouble: "not authenticated"},
			{Root: "/shop/services/stock", Interrupted: true, Services: none[Service](), Malformed: none[Bad]()},
		}},
		Events: []Event{
			{Time: before(3 * time.Hour), Kind: "client", Text: "opened"},
			{Time: before(3 * time.Hour), Kind: "state", Name: "connected", Text: "connected to zk1:2181"},
			{Time: before(72 * time.Second), Kind: "acquired", Path: "/shop/locks/sku-42", Recipe: "mutex", Name: "stock", Node: firstNode, Duration: Seconds(1234 * time.Microsecond), Text: "after 1.23ms"},
			{Time: before(time.Minute), Kind: "waiting", Path: evil, Recipe: "mutex", Text: "2 ahead"},
			{Time: before(2 * time.Second), Kind: "instance", Path: "/shop/services/orders/a2", Text: "drains"},
			{Time: before(time.Second), Kind: "lost", Path: "/shop/locks/sku-7", Recipe: "leader_latch", Node: firstNode, Duration: Seconds(time.Hour), Text: "held for 1h", Cause: "lock node deleted by someone else", Trouble: true},
		},
	}
}

func inTrouble(now time.Time) Client {
	empty := silent(now)
	empty.Recorded = true
	empty.Service, empty.Closed = "bills", false
	empty.State = State{Name: "lost", Since: now.Add(-90 * time.Second), Cause: "dial tcp: connection refused\n<b>not bold</b>"}
	empty.Session = &Session{
		ID: "0x2000a2b3c4d0009", Epoch: 7, Established: now.Add(-time.Hour), Server: "10.0.0.1:2181",
		Timeout: Seconds(15 * time.Second), Left: Seconds(-76 * time.Second), LastContact: now.Add(-90 * time.Second),
		Ended: "session lost: no answer within its time", ErrorPolicy: "StandardPolicy", SafetyMargin: 0.25, StrictContact: true,
	}
	empty.Servers = []Server{
		{Address: "10.0.0.1:2181", Attempts: 12, Failures: 11, Last: now.Add(-time.Second), Error: "connection refused"},
		{Address: "10.0.0.2:2181", Listed: true, Attempts: 11, Failures: 11, Last: now.Add(-2 * time.Second), Error: "i/o timeout"},
	}
	empty.ServersProblem = "lookup zk-headless: no such host"
	empty.Holds = List[Hold]{1, []Hold{{
		Path: "/jobs/bill", Recipe: "leader_selector", Node: "n-0000000003", Token: 77, Since: now.Add(-time.Hour),
		Waited: Seconds(20 * time.Minute), Lost: "session lost: no answer within its time",
	}}}
	empty.Caches = List[Cache]{1, []Cache{{Root: "/rates", Synced: true, Nodes: 1, Zxid: 5, Error: "not authorized", Ended: now.Add(-5 * time.Minute)}}}
	empty.Directories = List[Directory]{1, []Directory{{
		Root: "/rates", Filled: true, Zxid: 5, Services: none[Service](), Malformed: none[Bad](), Error: "not authorized", Ended: now.Add(-5 * time.Minute),
	}}}
	empty.Watches = List[Watch]{1, []Watch{{Path: evil, Kind: "data", Waiters: 1}}}
	return empty
}

func silent(now time.Time) Client {
	return Client{
		Service: "tool", Closed: true, State: State{Name: "connected", Since: now.Add(-time.Minute)}, Servers: []Server{},
		Watches: List[Watch]{Items: []Watch{}}, Holds: List[Hold]{Items: []Hold{}}, Waits: List[Wait]{Items: []Wait{}},
		Registrations: List[Registration]{Items: []Registration{}}, Caches: none[Cache](),
		Instances: none[Instance](), Directories: none[Directory](), Events: []Event{},
	}
}

func none[T any]() List[T] { return List[T]{Items: []T{}} }
