package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// comparison is a table that has a row for each scenario of a benchmark.
type comparison struct {
	title, intro string
	benchmark    string
	ratio        string   // above 1, we are faster
	inverse      bool     // the ratio is above 1 where the peer is faster
	costs        []string // other columns

	unmeasured bool // it has no table yet
}

var comparisons = []comparison{
	{
		title: "Beside Java Curator's InterProcessMutex",
		intro: "Both sides have the same scenario in each round, one after the other, on the\n" +
			"same server. Requests and bytes are for one acquire and release.",
		benchmark: "AgainstCurator", ratio: "x-curator",
		costs: []string{"our-reqs", "curator-reqs", "our-B", "curator-B"},
	},
	{
		title:     "Beside zk.Lock of go-zookeeper",
		intro:     "The server is a real one. Where n goroutines share a client, each has a zk.Lock\nof its own, because they cannot share one.",
		benchmark: "AgainstZkLock/server=zookeeper", ratio: "mutex/s:zk.Lock/s",
		costs: []string{"mutex-B", "zk.Lock-B"},
	},
	{
		title:     "The same on the fake server",
		intro:     "It answers at once. So the work of the clients counts, and requests are counted.",
		benchmark: "AgainstZkLock/server=zktest-tcp", ratio: "mutex/s:zk.Lock/s",
		costs: []string{"mutex-reqs", "zk.Lock-reqs"},
	},
	{
		title: "A crowd of one client beside zk.Lock",
		intro: "Goroutines of one client acquire one lock at once, each with an object of its\n" +
			"own, and release it. Readers wait behind a writer of another client, and then\n" +
			"hold it together. Lost are sessions. Requests are for one acquire and release,\npings included.",
		benchmark: "CrowdOfOneClient", ratio: "x-zk.Lock",
		costs:      []string{"all-ms", "reqs", "lost"},
		unmeasured: true,
	},
	{
		title: "Beside the bare requests",
		intro: "An acquire and release of a mutex that nobody else wants, beside its three\n" +
			"requests, which go-zookeeper sends one after the other. The mutex sends two of\n" +
			"them together: that is where it is faster.",
		benchmark: "Uncontended", ratio: "mutex/bare", inverse: true,
		costs: []string{"mutex-allocs", "bare-allocs"},
	},
	{
		title:     "Several mutexes by one transaction",
		intro:     "NewAtomicMultiLock beside NewInterProcessMultiLock, which takes one after the\nother. Times are in nanoseconds.",
		benchmark: "MultiLock", ratio: "times-as-fast",
		costs: []string{"together-ns", "one-by-one-ns"},
	},
	{
		title:     "A cached mutex",
		intro:     "A mutex with WithCachedLock that nobody else wants, beside one without it. Times\nare in nanoseconds.",
		benchmark: "CachedLock", ratio: "times-as-fast",
		costs: []string{"cached-ns", "plain-ns"},
	},
	{
		title: "Counters beside Java Curator's DistributedAtomicLong",
		intro: "Writers share one number. Bare is a write of go-zookeeper alone in the place of\n" +
			"our increment, and Next takes a number of a Sequence. The other columns are\nrequests for one increment.",
		benchmark: "Increments", ratio: "x-curator",
		costs: []string{"our-reqs", "curator-reqs"},
	},
	{
		title: "The first state of a cache",
		intro: "The time until a cache has all nodes below a path, beside Java's CuratorCache, and\n" +
			"beside plain reads of all nodes by go-zookeeper, whose paths are known before\n" +
			"(x-plain, where less than 1 means that the cache is faster). Requests and bytes of\nmemory are for one node.",
		benchmark: "FirstSync", ratio: "x-curator", inverse: true,
		costs: []string{"x-plain", "our-reqs", "curator-reqs", "our-B", "curator-B"},
	},
}

const introduction = `# Benchmarks

<!-- Written by go run ./internal/benchmarks -->

This page compares the module with its peers, and shows how costs grow. It is
written by a program, from [docs/benchmarks.txt](docs/benchmarks.txt), which has
what the benchmarks have printed. Anybody can run them again:

    go run ./internal/benchmarks -measure .

The requests and bytes of one that nobody disturbs are exact, and the same on every
machine. Where several want the same thing, such as a counter or a lock, it depends
on how they meet: a slow server makes more of them wait, or try again. Times are
different everywhere: read the ratios, whose two sides were measured in turn, in the
same run. Above 1, this module is faster. A difference of less than a tenth is
noise. The file says for each part at which commit it was measured.

%s

## How costs grow

Contenders wait for one lock: goroutines of one client, or clients. Or one client
holds n locks. The columns are for one acquire and release: the requests, and how
often the queue is listed; and for one contender or lock: the bytes of memory and
the goroutines. A lock that is held for less than a second is not watched. These
are held for longer, and have a watch, but no goroutine. The fake server is in the
same process, and its share is in the last two. Each client has a connection and its
goroutines. A connection that has had a long answer keeps a buffer of its size for a
while, on both sides: that is the memory that grows with the number of clients. The
memory of ten is noise: what was in the process before shrinks by as much.

![Requests and memory by the size of the crowd](docs/growth.svg)

%s
`

// page returns the text of the page.
func page(r results) string {
	var b strings.Builder
	fmt.Fprintf(&b, introduction, machine(r.facts), growthTable(r))
	for _, c := range comparisons {
		if !c.unmeasured {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s", c.title, c.intro, c.table(r.of(c.benchmark)))
		}
	}
	b.WriteString("\n## Where a peer is faster\n\n" + behind(r))
	return b.String()
}

func machine(facts map[string]string) string {
	text := fmt.Sprintf("Measured on %s, at commit %s, on %s processors (%s), with %s, ZooKeeper %s, Java Curator %s and %s.",
		facts["date"], facts["commit"], facts["processors"], facts["cpu"], facts["go"], facts["zookeeper"], facts["curator"], facts["java"])
	return fill(text)
}

// fill breaks lines before 80 columns.
func fill(text string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) > 80:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

func growthTable(r results) string {
	columns := []string{"reqs", "lists", "B", "goroutines"}
	return table("crowd", columns, r.of("Growth"), func(metrics map[string]float64, unit string) (float64, bool) {
		value, ok := metrics[unit]
		return value, ok
	})
}

// table returns the rows with the ratio as the first column.
func (c comparison) table(rows []row) string {
	const ratio = "times as fast"
	return table("scenario", append([]string{ratio}, c.costs...), rows, func(metrics map[string]float64, unit string) (float64, bool) {
		if unit == ratio {
			return c.ratioOf(metrics)
		}
		value, ok := metrics[unit]
		return value, ok
	})
}

func (c comparison) ratioOf(metrics map[string]float64) (float64, bool) {
	value, ok := metrics[c.ratio]
	if ok && c.inverse {
		value = 1 / value
	}
	return value, ok
}

func table(first string, columns []string, rows []row, of func(map[string]float64, string) (float64, bool)) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |\n|---|%s\n", first, strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))
	for _, line := range rows {
		fmt.Fprintf(&b, "| %s |", line.name)
		for _, column := range columns {
			text := ""
			if value, ok := of(line.metrics, column); ok {
				text = number(value)
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// number has three figures, or all before the point.
func number(value float64) string {
	switch {
	case value >= 100:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case value >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	default:
		return strconv.FormatFloat(value, 'f', 2, 64)
	}
}

// behind lists the scenarios in which a peer is faster, the worst first.
func behind(r results) string {
	type loss struct {
		text  string
		ratio float64
	}
	var all []loss
	for _, c := range comparisons {
		for _, line := range r.of(c.benchmark) {
			if ratio, ok := c.ratioOf(line.metrics); ok && ratio < 1 {
				all = append(all, loss{fmt.Sprintf("- %s, %s: %s.\n", c.title, line.name, number(ratio)), ratio})
			}
		}
	}
	if len(all) == 0 {
		return "In no scenario above.\n"
	}
	slices.SortStableFunc(all, func(a, b loss) int { return int((a.ratio - b.ratio) * 1000) })
	var b strings.Builder
	for _, one := range all {
		b.WriteString(one.text)
	}
	return b.String()
}
