package main

import "fmt"

// comparison is a table that has a row for each scenario of a benchmark.
type comparison struct {
	title, intro string
	benchmark    string
	ratios       []ratio  // the first columns
	costs        []string // other columns
}

// ratio is a column. Above 1, we are faster.
type ratio struct {
	title   string
	unit    string
	inverse bool   // the figure is above 1 where the peer is faster
	peer    string // if the table has several
}

// asFast is the only ratio of a table.
func asFast(unit string) []ratio { return []ratio{{title: "times as fast", unit: unit}} }

func asFastInverse(unit string) []ratio {
	return []ratio{{title: "times as fast", unit: unit, inverse: true}}
}

// besidePeers are columns of the peers whose ratios are x-NAME.
func besidePeers(names ...string) []ratio {
	all := make([]ratio, 0, len(names))
	for _, name := range names {
		all = append(all, ratio{title: "x " + name, unit: "x-" + name, peer: name})
	}
	return all
}

// of returns the median, and between which ratios the rounds were: both are 0 if
// nobody has noted that.
func (c ratio) of(metrics map[string]float64) (middle, from, to float64, ok bool) {
	middle, ok = metrics[c.unit]
	from, to = metrics[c.unit+"-from"], metrics[c.unit+"-to"]
	if ok && c.inverse {
		middle = 1 / middle
		if from > 0 {
			from, to = 1/to, 1/from
		}
	}
	return middle, from, to, ok
}

func (c ratio) text(metrics map[string]float64) string {
	middle, from, to, ok := c.of(metrics)
	switch {
	case !ok:
		return ""
	case from == 0:
		return number(middle)
	}
	return fmt.Sprintf("%s (%s to %s)", number(middle), number(from), number(to))
}

// behind says which peer is faster, if the title of the table does not.
func (c ratio) behind() string {
	if c.peer == "" {
		return ""
	}
	return ", beside " + c.peer
}

// table returns the rows with the ratios as the first columns. A column that
// nobody has is left out.
func (c comparison) table(rows []row) string {
	byTitle := map[string]ratio{}
	var columns []string
	for _, one := range c.ratios {
		if hasUnit(rows, one.unit) {
			byTitle[one.title] = one
			columns = append(columns, one.title)
		}
	}
	for _, unit := range c.costs {
		if hasUnit(rows, unit) {
			columns = append(columns, unit)
		}
	}
	return table("scenario", columns, rows, func(metrics map[string]float64, column string) string {
		if one, ok := byTitle[column]; ok {
			return one.text(metrics)
		}
		return figureOf(metrics, column)
	})
}

func hasUnit(rows []row, unit string) bool {
	for _, line := range rows {
		if _, ok := line.metrics[unit]; ok {
			return true
		}
	}
	return false
}

var comparisons = []comparison{
	{
		title: "Recipes beside each other",
		intro: "In each round all libraries do the same, in turn. ZooKeeper is one server for\n" +
			"go-zookeeper's zk.Lock, Java Curator, Python's kazoo and ours. etcd and Redis have\n" +
			"one server each, too, and are asked by the package concurrency and by rueidislock.\n" +
			"Redis holds a lock in one memory, and does not replicate it.\n\n" +
			"A hand-over is the time from a client's release until another one, which waits,\n" +
			"has the lock. 500 that are drained are goroutines, or threads, of one client, with\n" +
			"an object each; their time begins with the release that they wait for. A failed\n" +
			"try is for what another client holds, or what the same object holds: 50 tries,\n" +
			"which share the requests of the holder's acquire and release. One of ten that read\n" +
			"and write is a writer. etcd has no 8-sessions: one that has just queued for its\n" +
			"mutex sees a release up to 100 ms late. In 8-drained eight clients have queued for\n" +
			"two seconds; whether they have is looked up at ZooKeeper, which is one request of a\n" +
			"round. The cached lock is one of ours with WithCachedLock beside plain ones.\n" +
			"The participants are the 100 candidates of a selector.\n" +
			"Requests are to ZooKeeper, for one acquire and release, or one list.\n" +
			"Before each row there are some seconds, and two rounds of each, that do not count:\n" +
			"Java compiles meanwhile.",
		benchmark: "Peers",
		ratios:    besidePeers("zk.Lock", "curator", "kazoo", "etcd", "redis"),
		costs:     []string{"our-reqs", "zk.Lock-reqs", "curator-reqs", "kazoo-reqs", "our-ns"},
	},
	{
		title: "After a holder is killed",
		intro: "How long a client still waits when the process that holds the lock is killed. All\n" +
			"have a timeout of four seconds. It begins when the server last heard of the holder:\n" +
			"up to a third of it before the kill, and for rueidislock up to half. ZooKeeper's\n" +
			"server rounds the end up to a whole tick, of two seconds as in its own zoo.cfg. A\n" +
			"holder of ours that lives stops before its session ends: that is not measured here.",
		benchmark: "FailOver",
		ratios:    besidePeers("curator", "kazoo", "etcd", "redis"),
		costs:     []string{"our-ms", "curator-ms", "kazoo-ms", "etcd-ms", "redis-ms"},
	},
	{
		title: "Beside Java Curator's InterProcessMutex",
		intro: "Both sides have the same scenario in each round, one after the other, on the\n" +
			"same server. Requests and bytes are for one acquire and release.",
		benchmark: "AgainstCurator", ratios: asFast("x-curator"),
		costs: []string{"our-reqs", "curator-reqs", "our-B", "curator-B"},
	},
	{
		title:     "Beside zk.Lock of go-zookeeper",
		intro:     "The server is a real one. Where n goroutines share a client, each has a zk.Lock\nof its own, because they cannot share one.",
		benchmark: "AgainstZkLock/server=zookeeper", ratios: asFast("mutex/s:zk.Lock/s"),
		costs: []string{"mutex-B", "zk.Lock-B"},
	},
	{
		title:     "The same on the fake server",
		intro:     "It answers at once. So the work of the clients counts, and requests are counted.",
		benchmark: "AgainstZkLock/server=zktest-tcp", ratios: asFast("mutex/s:zk.Lock/s"),
		costs: []string{"mutex-reqs", "zk.Lock-reqs"},
	},
	{
		title: "A crowd of one client beside zk.Lock",
		intro: "Goroutines of one client acquire one lock at once, each with an object of its\n" +
			"own, and release it. Readers wait behind a writer of another client, and then\n" +
			"hold it together. Lost are sessions. Requests are for one acquire and release,\npings included.",
		benchmark: "CrowdOfOneClient", ratios: asFast("x-zk.Lock"),
		costs: []string{"all-ms", "reqs", "lost"},
	},
	{
		title: "Beside the bare requests",
		intro: "An acquire and release of a mutex that nobody else wants, beside its three\n" +
			"requests, which go-zookeeper sends one after the other. The mutex sends two of\n" +
			"them together: that is where it is faster.",
		benchmark: "Uncontended", ratios: asFastInverse("mutex/bare"),
		costs: []string{"mutex-allocs", "bare-allocs"},
	},
	{
		title:     "A cached mutex",
		intro:     "A mutex with WithCachedLock that nobody else wants, beside one without it. Times\nare in nanoseconds.",
		benchmark: "CachedLock", ratios: asFast("times-as-fast"),
		costs: []string{"cached-ns", "plain-ns"},
	},
	{
		title: "Counters beside Java Curator's DistributedAtomicLong",
		intro: "Writers share one number. Bare is a write of go-zookeeper alone in the place of\n" +
			"our increment, and Next takes a number of a Sequence. The other columns are\nrequests for one increment.",
		benchmark: "Increments", ratios: asFast("x-curator"),
		costs: []string{"our-reqs", "curator-reqs"},
	},
	{
		title: "The first state of a cache",
		intro: "The time until a cache has all nodes below a path, beside Java's CuratorCache, and\n" +
			"beside plain reads of all nodes by go-zookeeper, whose paths are known before\n" +
			"(x-plain, where less than 1 means that the cache is faster). Requests and bytes of\nmemory are for one node.",
		benchmark: "FirstSync", ratios: asFastInverse("x-curator"),
		costs: []string{"x-plain", "our-reqs", "curator-reqs", "our-B", "curator-B"},
	},
}
