package main

import (
	"fmt"
	"slices"
)

// comparison is a table that has a row for each scenario of a benchmark.
type comparison struct {
	title, benchmark string   // the title heads the column of scenarios
	ratios           []ratio  // the first columns
	costs            []string // other columns
}

// ratio is a column. A value above 1 means that this module is ahead; if cost is set, a
// value below 1.
type ratio struct {
	title, unit string
	cost        bool
}

// ratesBeside are columns for the peers whose ratios are named x-NAME.
func ratesBeside(names ...string) []ratio {
	all := make([]ratio, 0, len(names))
	for _, name := range names {
		all = append(all, ratio{title: "rate/" + name, unit: "x-" + name})
	}
	return all
}

// text returns the median and, if the results have it, the range of the rounds. If the
// peer is ahead, the text is bold.
func (c ratio) text(metrics map[string]float64) string {
	middle, ok := metrics[c.unit]
	if !ok {
		return ""
	}
	text := number(middle)
	if from, ok := metrics[c.unit+"-from"]; ok {
		text += fmt.Sprintf(" (%s to %s)", number(from), number(metrics[c.unit+"-to"]))
	}
	if middle != 1 && (middle > 1) == c.cost {
		text = "**" + text + "**"
	}
	return text
}

func comparisonOf(benchmark string) comparison {
	i := slices.IndexFunc(comparisons, func(c comparison) bool { return c.benchmark == benchmark })
	return comparisons[i] // the page names no other
}

// table returns the rows with the ratios as the first columns, without columns that no
// row has.
func (c comparison) table(rows []row) string {
	if len(rows) == 0 {
		return "Not measured yet: " + c.title + "."
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
	return table(c.title, columns, rows, func(metrics map[string]float64, column string) string {
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

// speedRatios are the ratios of rates and of costs: time, CPU and the 99th percentile.
var speedRatios = []ratio{
	{"rate/zk.Lock", "rate/zk.Lock", false}, {"rate/Curator", "rate/Curator", false}, {"rate/CAS", "rate/CAS", false},
	{"time/zk.Lock", "time/zk.Lock", true}, {"time/Curator", "time/Curator", true},
	{"CPU/zk.Lock", "cpu/zk.Lock", true}, {"CPU/CAS", "cpu/CAS", true}, {"p99/CAS", "p99/CAS", true},
}

// speedCosts are the columns after the ratios.
var speedCosts = []string{"our-reqs", "zk.Lock-reqs", "CAS-reqs", "Curator-reqs", "our-allocs", "our-B"}

var comparisons = []comparison{
	{"no delay", "Speed/loopback", speedRatios, speedCosts},
	{"0.2 ms each way", "Speed/0.2ms", speedRatios, speedCosts},
	{"1 ms each way", "Speed/1ms", speedRatios, speedCosts},
	{"hand-over", "Speed/hand-over", speedRatios, speedCosts[:4]},
	{"counter", "Speed/counter", speedRatios, speedCosts[:4]},
	{"bytes kept", "Kept", nil, []string{"B/object"}},
	{
		"other peers", "Peers", ratesBeside("zk.Lock", "curator", "kazoo", "etcd", "redis"),
		[]string{"our-reqs", "zk.Lock-reqs", "curator-reqs", "kazoo-reqs"},
	},
	{
		"killed holder", "FailOver", ratesBeside("curator", "kazoo", "etcd", "redis"),
		[]string{"our-ms", "curator-ms", "kazoo-ms", "etcd-ms", "redis-ms"},
	},
	{
		"first sync of a cache", "FirstSync",
		[]ratio{{"time/Curator", "x-curator", true}, {"time/plain", "x-plain", true}},
		[]string{"our-reqs", "curator-reqs", "our-B", "curator-B"},
	},
}
