package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// results are the parsed output of a run of benchmarks.
type results struct {
	parts []measured
	rows  []row
}

// measured is a part, with its configuration lines; the first line with a name counts.
type measured struct {
	name  string
	facts map[string]string
}

// row is a line of a benchmark.
type row struct {
	name    string // without the prefix "Benchmark" and the number of processors
	metrics map[string]float64
}

var fact = regexp.MustCompile(`^([a-z]+|left out): (.*)$`)

// parse reads the format of Go's benchmarks. A line that starts like a result but
// cannot be parsed is an error, so that no row is lost.
func parse(text string) (results, error) {
	var r results
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if found := fact.FindStringSubmatch(line); found != nil {
			r.note(found[1], found[2])
			continue
		}
		name, isResult := strings.CutPrefix(line, "Benchmark")
		if !isResult {
			continue
		}
		fields := strings.Fields(name)
		if len(fields) == 1 { // the name is printed before a benchmark logs something
			continue
		}
		metrics, err := parseMetrics(fields)
		if err != nil {
			return results{}, fmt.Errorf("%q: %w", line, err)
		}
		r.rows = append(r.rows, row{r.withoutProcessors(fields[0]), metrics})
	}
	return r, nil
}

// withoutProcessors returns the name of a row without the number of processors. With
// one processor, Go adds no number: then a number at the end belongs to the name.
func (r *results) withoutProcessors(name string) string {
	if len(r.parts) == 0 {
		return name
	}
	if n := r.parts[len(r.parts)-1].facts["processors"]; n != "1" {
		name = strings.TrimSuffix(name, "-"+n)
	}
	return name
}

// note notes a line of configuration. A part begins with its name.
func (r *results) note(name, value string) {
	if name+": " == start {
		r.parts = append(r.parts, measured{value, map[string]string{}})
		return
	}
	if len(r.parts) == 0 {
		return
	}
	facts := r.parts[len(r.parts)-1].facts
	if before, known := facts[name]; !known {
		facts[name] = value
	} else if name == "left out" {
		facts[name] = before + "; " + value
	}
}

// all returns the distinct values of a fact among all parts.
func (r results) all(fact string) string {
	var values []string
	for _, p := range r.parts {
		if value := p.facts[fact]; value != "" && value != unknown && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return strings.Join(values, " and ")
}

// parseMetrics reads the pairs of value and unit after the name and the number of runs.
func parseMetrics(fields []string) (map[string]float64, error) {
	if len(fields)%2 != 0 {
		return nil, fmt.Errorf("%d fields are not pairs", len(fields))
	}
	metrics := map[string]float64{}
	for i := 2; i < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return nil, err
		}
		metrics[fields[i+1]] = value
	}
	return metrics, nil
}

// of returns the rows of a benchmark, with the rest of their names.
func (r results) of(benchmark string) []row {
	var all []row
	for _, line := range r.rows {
		if rest, ok := strings.CutPrefix(line.name, benchmark+"/"); ok {
			all = append(all, row{rest, line.metrics})
		}
	}
	return all
}
