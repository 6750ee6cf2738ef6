// Package brief shortens durations, counts and names of nodes for people, and
// makes text of others safe to show.
package brief

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
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
	unit := time.Minute
	switch {
	case abs < time.Second:
		unit = time.Millisecond
	case abs < time.Minute:
		unit = 100 * time.Millisecond
	case abs < time.Hour:
		unit = time.Second
	}
	text := d.Round(unit).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-len(zero)+1]
		}
	}
	return text
}

// Since returns how long ago a time was.
func Since(now, then time.Time) string { return Duration(max(now.Sub(then), 0)) }

// Clock returns a time of the day, in the zone of now, with the date unless
// that is today's.
func Clock(now, t time.Time) string {
	const clock = "15:04:05.000"
	t = t.In(now.Location())
	if now.Year() == t.Year() && now.YearDay() == t.YearDay() {
		return t.Format(clock)
	}
	return t.Format("2006-01-02 " + clock)
}

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

// Stage says in words what an acquire does: see snapshot.Wait.
func Stage(code string) string {
	switch code {
	case "starting":
		return "has no node yet"
	case "in process":
		return "waits for others of this client"
	case "queued":
		return "has queued, and has not looked yet"
	case "waiting":
		return "waits at the server"
	default: // a newer version has made the snapshot
		return printable.String(code)
	}
}

// Instance says in words what state an instance has: see snapshot.Instance.
func Instance(code string) string {
	switch code {
	case "ended":
		return "ended by itself"
	case "deleting":
		return "ended, the node is not deleted yet and may exist"
	case "conflict":
		return "not registered, somebody else has the ID"
	case "missing":
		return "not registered"
	case "draining":
		return "drains"
	default: // it needs no words, or a newer version has made the snapshot
		return printable.String(code)
	}
}

// Address returns where an instance listens.
func Address(host string, port, tlsPort int) string {
	if port = cmp.Or(port, tlsPort); port != 0 {
		host = net.JoinHostPort(host, strconv.Itoa(port))
	}
	return printable.String(host)
}

// Waiting says how many acquires of a holder's client wait for the lock.
func Waiting(n int) string {
	if n == 1 {
		return "1 of this client waits"
	}
	return fmt.Sprintf("%d of this client wait", n)
}

// Policy says in words when work under a lock has to stop: see
// snapshot.Session. The margin is a part of the timeout.
func Policy(code string, margin float64, timeout time.Duration) string {
	early := Duration(time.Duration(margin * float64(timeout)))
	switch code {
	case "SessionPolicy":
		return "locks end with the session, " + early + " before the servers end it"
	case "StandardPolicy":
		return "locks end with the connection, or " + early + " before the servers end the session"
	default:
		return printable.String(code) + ", " + early + " before the servers end the session"
	}
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
