package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
)

//go:embed page.tmpl
var pageText string

// page returns the text of the page.
func page(r results) string {
	text := template.Must(template.New("page").Funcs(template.FuncMap{
		"machine": func() string { return machine(r) },
		"parts":   func() string { return strings.TrimSpace(partTable(r)) },
		"growth":  func() string { return strings.TrimSpace(growthTable(r)) },
		"behind":  func() string { return strings.TrimSpace(behind(r)) },
		"title":   func(benchmark string) string { return comparisonOf(benchmark).title },
		"table": func(benchmark string) string {
			return strings.TrimSpace(comparisonOf(benchmark).table(r.of(benchmark)))
		},
	}).Parse(pageText))
	var b strings.Builder
	if err := text.Execute(&b, nil); err != nil {
		panic(err) // the template is part of the program
	}
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
