package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/semconv"
)

// printTraces prints each trace as a tree. Spans have their durations. Acquires
// have their events, with the time since the span began.
func printTraces(w io.Writer, traces []*span) {
	for i, root := range traces {
		if i > 0 {
			fmt.Fprintln(w)
		}
		at := round(root.start.Sub(traces[0].start))
		fmt.Fprintf(w, "%s, trace %s, at %v\n\n", root.service, short(root.trace), at)
		fmt.Fprintf(w, "%s\n", summary(root))
		printBelow(w, root, "")
	}
}

// short returns the beginning of a trace id.
func short(trace string) string { return trace[:8] }

func printBelow(w io.Writer, s *span, indent string) {
	for i, child := range s.children {
		branch, below := "├─ ", "│  "
		if i == len(s.children)-1 {
			branch, below = "└─ ", "   "
		}
		fmt.Fprintf(w, "%s%s%s\n", indent, branch, summary(child))
		printDetails(w, child, indent+below)
		printBelow(w, child, indent+below)
	}
}

// printDetails prints the targets of a span's links, and its events.
func printDetails(w io.Writer, s *span, indent string) {
	for _, l := range s.links {
		if l.kind != "acquire" { // the acquire is printed right beside its hold
			fmt.Fprintf(w, "%s  link to the %s: %s\n", indent, l.kind, target(l))
		}
	}
	for _, e := range s.events {
		fmt.Fprintf(w, "%s  %-8s %s\n", indent, "+"+round(e.at.Sub(s.start)).String(), describe(s, e))
	}
}

func target(l link) string {
	if l.to == nil {
		return fmt.Sprintf("span %s of trace %s", l.id, short(l.trace))
	}
	return fmt.Sprintf("%q of %s, trace %s", l.to.name, l.to.service, short(l.trace))
}

// summary returns a span in one line.
func summary(s *span) string {
	line := s.name + "  " + round(s.took()).String()
	switch {
	case s.isAcquire():
		line = s.name + "  " + wait(s)
	case s.isHold():
		line += ", " + words(s.attributes.text(semconv.LockEnd))
	}
	if s.problem != "" {
		line += ", error: " + s.problem
	}
	return line
}

// wait describes what an acquire waited for.
func wait(s *span) string {
	path, took := s.attributes.text(semconv.LockPath), round(s.took())
	line := fmt.Sprintf("took %v for %s", took, path)
	if s.waited() {
		line = fmt.Sprintf("waited %v for %s, position %d, behind %s",
			took, path, s.attributes.number(semconv.LockPosition), s.behind())
	}
	if outcome := s.attributes.text(semconv.LockOutcome); outcome != "acquired" {
		line += ", " + words(outcome)
	}
	return line
}

// describe returns the text of an event.
func describe(s *span, e event) string {
	a := e.attributes
	switch e.name {
	case semconv.EventEnqueued:
		if a.number(semconv.LockPosition) == 0 {
			return "enqueued, nobody ahead"
		}
		return fmt.Sprintf("enqueued, position %d in a queue of %d",
			a.number(semconv.LockPosition), a.number(semconv.LockQueue))
	case semconv.EventWatching:
		return "watching " + a.text(semconv.LockPred)
	case semconv.EventHandedOver:
		if by := a.text(semconv.LockPred); by != "" {
			took := round(a.seconds(semconv.LockHandOff))
			return fmt.Sprintf("handed over by %s, %v after we heard of it", by, took)
		}
	case semconv.EventGranted:
		return fmt.Sprintf("granted, fencing token %d", s.attributes.number(semconv.LockToken))
	}
	if cause := a.text(semconv.Cause); cause != "" {
		return e.name + ": " + cause
	}
	return e.name
}

// words turns a name such as session_lost into text.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// round rounds a duration to about three digits.
func round(d time.Duration) time.Duration {
	unit := time.Microsecond
	for d >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit)
}
