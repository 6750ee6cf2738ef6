package main

import (
	"fmt"
	"slices"
)

// comparison is a table that has a row for each scenario of a benchmark.
type comparison struct {
	title, benchmark string
	ratios           []ratio  // the first columns
	costs            []string // other columns
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

func comparisonOf(benchmark string) comparison {
	i := slices.IndexFunc(comparisons, func(c comparison) bool { return c.benchmark == benchmark })
	return comparisons[i] // the page names no other
}

// table returns the rows with the ratios as the first columns. A column that
// no row has is left out.
func (c comparison) table(rows []row) string {
	if len(rows) == 0 {
		return "Not measured yet."
	}
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
		title: "Recipes beside each other", benchmark: "Peers",
		ratios: besidePeers("zk.Lock", "curator", "kazoo", "etcd", "redis"),
		costs:  []string{"our-reqs", "zk.Lock-reqs", "curator-reqs", "kazoo-reqs", "our-ns"},
	},
	{
		title: "After a holder is killed", benchmark: "FailOver",
		ratios: besidePeers("curator", "kazoo", "etcd", "redis"),
		costs:  []string{"our-ms", "curator-ms", "kazoo-ms", "etcd-ms", "redis-ms"},
	},
	{
		title: "Beside Java Curator's InterProcessMutex", benchmark: "AgainstCurator",
		ratios: asFast("x-curator"), costs: []string{"our-reqs", "curator-reqs", "our-B", "curator-B"},
	},
	{
		title: "Beside zk.Lock of go-zookeeper", benchmark: "AgainstZkLock/server=zookeeper",
		ratios: asFast("mutex/s:zk.Lock/s"), costs: []string{"mutex-B", "zk.Lock-B"},
	},
	{
		title: "The same on the fake server", benchmark: "AgainstZkLock/server=zktest-tcp",
		ratios: asFast("mutex/s:zk.Lock/s"), costs: []string{"mutex-reqs", "zk.Lock-reqs"},
	},
	{
		title: "A crowd of one client beside zk.Lock", benchmark: "CrowdOfOneClient",
		ratios: asFast("x-zk.Lock"), costs: []string{"all-ms", "reqs", "lost"},
	},
	{
		title: "Beside the bare requests", benchmark: "Uncontended",
		ratios: asFastInverse("mutex/bare"), costs: []string{"mutex-allocs", "bare-allocs"},
	},
	{
		title: "A cached mutex", benchmark: "CachedLock",
		ratios: asFast("times-as-fast"), costs: []string{"cached-ns", "plain-ns"},
	},
	{
		title: "Counters beside Java Curator's DistributedAtomicLong", benchmark: "Increments",
		ratios: asFast("x-curator"), costs: []string{"our-reqs", "curator-reqs"},
	},
	{
		title: "The first state of a cache", benchmark: "FirstSync",
		ratios: asFastInverse("x-curator"), costs: []string{"x-plain", "our-reqs", "curator-reqs", "our-B", "curator-B"},
	},
}
