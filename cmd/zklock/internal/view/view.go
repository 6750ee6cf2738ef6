package view

import (
	"fmt"
	"math"
	"time"
)

// View has the inputs of a representation other than the nodes.
type View struct {
	Now  time.Time      // the present time, for ages
	Zone *time.Location // the zone of times in tables; nil means UTC
	Own  int64          // the user's own session, whose nodes are marked; 0 for none
}

// Session returns the id of a session in hexadecimal digits, such as
// "0x1000a2b3c4d0001", as in ZooKeeper's own logs.
func Session(id int64) string { return fmt.Sprintf("%#x", uint64(id)) }

// Seconds is a duration in JSON: a number of seconds, to the millisecond.
type Seconds float64

// SecondsOf converts a duration.
func SecondsOf(d time.Duration) Seconds {
	return Seconds(math.Round(d.Seconds()*1000) / 1000)
}

// age returns the time since a moment, or nil if the moment is not known.
func (v View) age(since time.Time) *Seconds {
	if since.IsZero() {
		return nil
	}
	s := SecondsOf(v.Now.Sub(since))
	return &s
}

// clock shows a time, without the date if it is today.
func (v View) clock(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	zone := v.Zone
	if zone == nil {
		zone = time.UTC
	}
	at, now := at.In(zone), v.Now.In(zone)
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format(time.TimeOnly)
	}
	return at.Format("2006-01-02 15:04")
}

// ageText shows the time since a moment.
func (v View) ageText(since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return Duration(v.Now.Sub(since))
}

// Duration shows a duration for people, in at most two units. A negative one is
// "0s": clocks differ.
func Duration(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%ds", s/60, s%60)
	case s < 24*3600:
		return fmt.Sprintf("%dh%dm", s/3600, s/60%60)
	default:
		return fmt.Sprintf("%dd%dh", s/(24*3600), s/3600%24)
	}
}
