// Package brief shortens durations, counts and names of nodes for people, and
// makes text of others safe to show.
package brief

import (
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/printable"
)

// Duration returns the text of a duration, with about three digits.
func Duration(d time.Duration) string {
	abs := d.Abs()
	for unit := time.Nanosecond; unit < time.Millisecond; unit *= 10 {
		if abs < 1000*unit {
			return d.Round(unit).String()
		}
	}
	switch {
	case abs < time.Second:
		return d.Round(time.Millisecond).String()
	case abs < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case abs < time.Hour:
		return d.Round(time.Second).String()
	default:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
}

// Since returns how long ago a time was.
func Since(now, then time.Time) string { return Duration(max(now.Sub(then), 0)) }

// Count returns such as "1 node" or "3 nodes".
func Count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Node returns the name of a node without the id that makes the name of a
// protected create unique.
func Node(name string) string {
	const prefix, id = "_c_", "00000000-0000-0000-0000-000000000000-"
	if strings.HasPrefix(name, prefix) && len(name) > len(prefix+id) {
		name = name[len(prefix+id):]
	}
	return printable.String(name)
}

// List joins what is not empty.
func List(parts ...string) string {
	var all []string
	for _, part := range parts {
		if part != "" {
			all = append(all, part)
		}
	}
	return strings.Join(all, ", ")
}
