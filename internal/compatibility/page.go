package main

import (
	"fmt"
	"strings"
)

// head says what holds for all tables.
const head = `<!-- Made by .ci/compatibility from compatibility.json. Do not edit. -->

# Compatibility

A program of this repository has made this page from runs of tests:
[.ci/compatibility](../.ci/compatibility) runs them, and
[compatibility.json](compatibility.json) has the date, the commit and the
command of each. *Not run* says that nobody has tried, or that the version could
not be fetched.

[SUPPORT](SUPPORT.md) says which of these versions are supported.
`

// about has a text for each table.
var about = map[string]string{
	kindServer: `The first column has scenarios of all recipes on a real server of that version.
The second one compares the answers of the fake, package zktest, with those of
the real server, request by request. zktest behaves as 3.9.3, and on request as
3.8.4 or 3.8.0: a difference to others is one that tests on the fake do not
show. The recipes do not depend on it if the first column has passed. 3.8.0 is
Debian's, with patches.`,
	kindJava: `Processes in Go and in Java share locks, elections, numbers, groups and caches.`,
	kindKazoo: `zklock shows the locks of kazoo, our cache has the tree that it writes, and its
own recipes run on zktest.`,
	kindGo: `The tests of the client and of the recipes that need no server. A version stands
for its newest patch that the go command could fetch.`,
	kindSystem: `All packages, commands and tests compile. The tests themselves run on Linux, with
every change.`,
}

// page renders the results as Markdown. What has no result was not run.
func page(all []subject, rs results) string {
	var b strings.Builder
	b.WriteString(head)
	for i, s := range all {
		if i == 0 || all[i-1].kind != s.kind {
			beginTable(&b, s)
		}
		b.WriteString("| " + s.version)
		for _, c := range s.checks {
			b.WriteString(" | " + cell(rs, s, c))
		}
		b.WriteString(" |\n")
		if i+1 == len(all) || all[i+1].kind != s.kind {
			failures(&b, all, rs, s.kind)
		}
	}
	return b.String()
}

func beginTable(b *strings.Builder, s subject) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| Version |", s.kind, about[s.kind])
	for _, c := range s.checks {
		fmt.Fprintf(b, " %s |", c.name)
	}
	b.WriteString("\n|" + strings.Repeat("---|", 1+len(s.checks)) + "\n")
}

func cell(rs results, s subject, c check) string {
	r, ok := rs.find(s.kind, s.version, c.name)
	if !ok {
		return "*not run*"
	}
	return r.summary() + " (" + r.Date + ")"
}

// failures lists the tests of a table that have failed.
func failures(b *strings.Builder, all []subject, rs results, kind string) {
	begun := false
	for _, s := range all {
		for _, c := range s.checks {
			r, _ := rs.find(s.kind, s.version, c.name)
			if s.kind != kind || len(r.Failed) == 0 {
				continue
			}
			if !begun {
				b.WriteString("\nWhat has failed:\n\n")
				begun = true
			}
			fmt.Fprintf(b, "- %s, %s:\n", s.version, c.name)
			for _, test := range r.Failed {
				fmt.Fprintf(b, "  - `%s`\n", test)
				if meaning := known[test]; meaning != "" {
					fmt.Fprintf(b, "    %s\n", meaning)
				}
			}
		}
	}
}
