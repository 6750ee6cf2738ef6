package curatorz

import (
	"fmt"
	"strings"
	"time"
)

// duration returns the text of a duration, with about three digits.
func duration(d time.Duration) string {
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

// since returns how long ago a time was.
func (v view) since(then time.Time) string { return duration(max(v.now.Sub(then), 0)) }

// clock returns a time of the day, in the zone of now, with the date unless
// that is today's.
func clock(now, t time.Time) string {
	const clock = "15:04:05.000"
	t = t.In(now.Location())
	if now.Year() == t.Year() && now.YearDay() == t.YearDay() {
		return t.Format(clock)
	}
	return t.Format("2006-01-02 " + clock)
}

// count returns a text such as "1 node" or "3 nodes".
func count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// nodeName returns the name of a node without the id that makes the name of a
// protected create unique.
func nodeName(name string) string {
	const prefix, id = "_c_", "00000000-0000-0000-0000-000000000000-"
	if strings.HasPrefix(name, prefix) && len(name) > len(prefix+id) {
		return name[len(prefix+id):]
	}
	return name
}

// words returns a name such as read_write_lock as words.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// list joins the parts that are not empty.
func list(parts ...string) string {
	var all []string
	for _, part := range parts {
		if part != "" {
			all = append(all, part)
		}
	}
	return strings.Join(all, ", ")
}

// errText returns the text of an error, or "" for nil.
func errText(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err) // fmt recovers if a user's Error method panics
}
