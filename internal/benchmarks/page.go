package main

import (
	_ "embed"
	"fmt"
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
		"parts":   func() string { return partList(r) },
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

// versions are the facts with a version, and the names of the programs.
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

// partList names the commit and the date that the figures of each part belong to.
func partList(r results) string {
	var of []string // commits and dates
	names := map[string][]string{}
	var sum time.Duration
	for _, p := range r.parts {
		when := fmt.Sprintf("at commit %s on %s", p.facts["commit"], p.facts["date"])
		if names[when] == nil {
			of = append(of, when)
		}
		name := p.name
		if left := p.facts["left out"]; left != "" {
			name += " (left out: " + left + ")"
		}
		names[when] = append(names[when], name)
		took, _ := time.ParseDuration(p.facts["took"]) // 0 if it was not recorded
		sum += took
	}
	text := ""
	for _, when := range of {
		text += fmt.Sprintf("Measured %s: %s. ", when, strings.Join(names[when], ", "))
	}
	return fill(text + fmt.Sprintf("All of it took %v.", sum))
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

// table has a line for each row; the function of returns the text for each column.
func table(
	first string, columns []string, rows []row, of func(metrics map[string]float64, column string) string,
) string {
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

// number has three figures, or all figures before the point if there are more.
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
