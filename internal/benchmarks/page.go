package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const introduction = `# Benchmarks

<!-- Written by go run ./internal/benchmarks -->

This page compares the module with its peers, and shows how costs grow. It is
written by a program, from [docs/benchmarks.txt](docs/benchmarks.txt), which has
what the benchmarks have printed. Anybody can run them again:

    CURATOR_ZOOKEEPER_MAVEN=3.9.3 go run ./internal/benchmarks -measure .

Maven then fetches this ZooKeeper, and Java Curator 5.9.0. Without the variable,
it is what Debian has. kazoo, etcd and Redis are left out if they are not
installed. No server syncs to a disk. etcd's files are in memory, because it would
otherwise sync each write.

The requests and bytes of one that nobody disturbs are exact, and the same on every
machine. Where several want the same thing, such as a counter or a lock, it depends
on how they meet: a slow server makes more of them wait, or try again. Times are
different everywhere: read the ratios, whose sides were measured in turn, in the
same run. Above 1, this module is faster. Two numbers behind a ratio are the lowest
and the highest of the rounds, of ten or more without the outermost tenth: if 1 is
between them, it is not shown which side is faster. Without them, a difference of a
tenth may be noise, and on a busy machine a larger one.

%s

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
memory of one and of ten is noise: what was in the process before shrinks by as
much.

![Requests and memory by the size of the crowd](docs/growth.svg)

%s
`

// page returns the text of the page.
func page(r results) string {
	var b strings.Builder
	fmt.Fprintf(&b, introduction, machine(r), partTable(r), growthTable(r))
	var missing []string
	for _, c := range comparisons {
		rows := r.of(c.benchmark)
		if len(rows) == 0 {
			missing = append(missing, "- "+c.title+".\n")
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s", c.title, c.intro, c.table(rows))
	}
	if len(missing) > 0 {
		b.WriteString("\n## Not measured yet\n\n" + strings.Join(missing, ""))
	}
	b.WriteString("\n## Where a peer is faster\n\n" + behind(r))
	return b.String()
}

// versions are the facts that have a version, and whose it is.
var versions = [][2]string{
	{"ZooKeeper ", "zookeeper"}, {"Java Curator ", "curator"}, {"go-zookeeper ", "gozookeeper"},
	{"kazoo ", "kazoo"}, {"etcd ", "etcd"}, {"etcd's client ", "etcdclient"}, {"Redis ", "redis"}, {"rueidis ", "rueidis"},
}

func machine(r results) string {
	text := fmt.Sprintf("Measured on %s processors (%s), with %s", r.all("processors"), r.all("cpu"), r.all("go"))
	for _, v := range versions {
		if all := r.all(v[1]); all != "" {
			text += ", " + v[0] + all
		}
	}
	return fill(text + " and " + r.all("java") + ".")
}

// partTable says of each part when it was measured, and with what.
func partTable(r results) string {
	var b strings.Builder
	var sum time.Duration
	b.WriteString("| part | date | commit | ZooKeeper | Curator | took | left out |\n|---|---|---|---|---|---:|---|\n")
	for _, p := range r.parts {
		f := p.facts
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n",
			p.name, f["date"], f["commit"], f["zookeeper"], f["curator"], f["took"], f["left out"])
		took, _ := time.ParseDuration(f["took"]) // 0 if nobody has noted it
		sum += took
	}
	fmt.Fprintf(&b, "\nAll parts took %v.\n", sum)
	return b.String()
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
	return table("crowd", columns, r.of("Growth"), figureOf)
}

// table has a line for each row, and in each column what of returns.
func table(first string, columns []string, rows []row, of func(metrics map[string]float64, column string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |\n|---|%s\n", first, strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))
	for _, line := range rows {
		fmt.Fprintf(&b, "| %s |", line.name)
		for _, column := range columns {
			fmt.Fprintf(&b, " %s |", of(line.metrics, column))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func figureOf(metrics map[string]float64, unit string) string {
	if value, ok := metrics[unit]; ok {
		return number(value)
	}
	return ""
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
			for _, one := range c.ratios {
				if middle, _, _, ok := one.of(line.metrics); ok && middle < 1 {
					text := fmt.Sprintf("- %s, %s: %s%s.\n", c.title, line.name, one.text(line.metrics), one.behind())
					all = append(all, loss{text, middle})
				}
			}
		}
	}
	if len(all) == 0 {
		return "In no scenario above.\n"
	}
	slices.SortStableFunc(all, func(a, b loss) int { return cmp.Compare(a.ratio, b.ratio) })
	var b strings.Builder
	for _, one := range all {
		b.WriteString(one.text)
	}
	return b.String()
}
