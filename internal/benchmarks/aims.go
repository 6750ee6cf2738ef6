package main

import (
	"fmt"
	"strings"
)

// aim is what somebody has wished a part of the module to reach.
type aim struct {
	row, text string
	reached   []figure
	shown     string // what a test shows, or why there is no figure
	missing   bool   // a part of the aim is not built
}

// figure is a number on this page that an aim asks for.
type figure struct {
	label     string // what stands behind the number
	row, unit string
	inverse   bool // the time of ours divided by the peer's
	atLeast   float64
	atMost    float64 // counts if atLeast is 0
	share     float64 // how much more a figure may be, for the requests of the row's beginning and end
}

// Where a peer stood before, the wish was a multiple of that. So the ratio to the
// peer is to be a multiple of what it was: 1.21 for a failed try, 2.52 for four
// leases.
var aims = []aim{
	{
		row: "one worker", text: ">= 1.35 x Curator, >= 1.2 x go-zookeeper",
		reached: []figure{
			{label: "x Curator", row: "Peers/one-worker", unit: "x-curator", atLeast: 1.35},
			{label: "x go-zookeeper", row: "Peers/one-worker", unit: "x-zk.Lock", atLeast: 1.2},
		},
	},
	{
		row: "cached lock, acquired again", text: "no request, >= 1,000 x Curator",
		reached: []figure{
			{label: "requests", row: "Peers/cached", unit: "our-reqs", share: 0.001},
			{label: "x Curator", row: "Peers/cached", unit: "x-curator", atLeast: 1000},
		},
	},
	{
		row: "64 paths", text: "one client with 4 sessions: >= 2 x one session; on 4 clients: >= go-zookeeper",
		reached: []figure{
			{label: "x go-zookeeper on 4 clients", row: "AgainstZkLock/server=zookeeper/64-paths-4-clients", unit: "mutex/s:zk.Lock/s", atLeast: 1},
		},
		shown: "a client has one session", missing: true,
	},
	{
		row: "one lock, 8 sessions", text: ">= 1.15 x go-zookeeper",
		reached: []figure{{label: "x go-zookeeper", row: "Peers/8-sessions", unit: "x-zk.Lock", atLeast: 1.15}},
	},
	{
		row: "hand-over of two", text: "time <= 0.75 x Curator's and go-zookeeper's; no request between delete and grant",
		reached: []figure{
			{label: "x Curator's time", row: "Peers/hand-over", unit: "x-curator", inverse: true, atMost: 0.75},
			{label: "x go-zookeeper's time", row: "Peers/hand-over", unit: "x-zk.Lock", inverse: true, atMost: 0.75},
		},
		shown: "no request: TestNextInLineTakesTheLockWithoutALook",
	},
	{
		row: "500 drained", text: "time <= go-zookeeper's, from the release",
		reached: []figure{{label: "x go-zookeeper's time", row: "Peers/500-drained", unit: "x-zk.Lock", inverse: true, atMost: 1}},
	},
	{
		row: "failed try", text: "1 request, >= 1.8 x what it was (2.18 x Curator); of the same object, no request",
		reached: []figure{
			{label: "requests", row: "Peers/failed-try", unit: "our-reqs", atMost: 1, share: 0.12}, // 5 or 6 in 50 tries
			{label: "x Curator", row: "Peers/failed-try", unit: "x-curator", atLeast: 2.18},
			{label: "requests of the same object", row: "Peers/failed-try-same-object", unit: "our-reqs", share: 0.1},
		},
	},
	{
		row: "acquire of 4 leases", text: ">= 2 x what it was (5.04 x Curator)",
		reached: []figure{{label: "x Curator", row: "Peers/acquire-4", unit: "x-curator", atLeast: 5.04}},
	},
	{
		row: "multi-lock of 8", text: ">= 3 x one after the other",
		reached: []figure{{label: "x one after the other", row: "MultiLock/locks=8", unit: "times-as-fast", atLeast: 3}},
	},
	{
		row: "participants of 100", text: "2 requests",
		reached: []figure{{label: "requests", row: "Peers/participants-of-100", unit: "our-reqs", atMost: 2, share: 0.05}},
	},
	{
		row: "fail-over after a kill", text: "no slower than kazoo and etcd, or why not",
		reached: []figure{
			{label: "x kazoo", row: "FailOver/4-s-timeout", unit: "x-kazoo", atLeast: 1},
			{label: "x etcd", row: "FailOver/4-s-timeout", unit: "x-etcd", atLeast: 1},
		},
	},
	{
		row: "a lock that is held", text: "<= 2 KB, no goroutine",
		reached: []figure{
			{label: "B, with the fake server's", row: "Growth/locks/n=10000", unit: "B", atMost: 2000},
			{label: "goroutines", row: "Growth/locks/n=10000", unit: "goroutines"},
		},
	},
}

// aimTable says of each aim what was reached, and whether that is enough.
func aimTable(r results) string {
	var b strings.Builder
	b.WriteString("| row | aim | reached | met |\n|---|---|---|---|\n")
	for _, a := range aims {
		reached, met := a.of(r)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", a.row, a.text, reached, met)
	}
	return b.String()
}

// of returns the figures, and how many of them are what they should be.
func (a aim) of(r results) (reached, met string) {
	var texts []string
	good, found, all := 0, 0, len(a.reached)
	for _, f := range a.reached {
		value, ok := f.of(r)
		if !ok {
			texts = append(texts, "? "+f.label)
			continue
		}
		found++
		texts = append(texts, number(value)+" "+f.label+f.shared())
		if f.isMetBy(value) {
			good++
		}
	}
	if a.shown != "" {
		texts = append(texts, a.shown)
	}
	if a.missing {
		all++
	}
	switch {
	case found == 0:
		met = "not measured"
	case good == all:
		met = "yes"
	case good == 0:
		met = "no"
	default:
		met = "in part"
	}
	return strings.Join(texts, "; "), met
}

func (f figure) of(r results) (float64, bool) {
	value, ok := r.metric(f.row, f.unit)
	if ok && f.inverse {
		value = 1 / value
	}
	return value, ok
}

func (f figure) isMetBy(value float64) bool {
	if f.atLeast > 0 {
		return value >= f.atLeast
	}
	return value <= f.atMost+f.share
}

// shared says how much more counts as met.
func (f figure) shared() string {
	if f.share == 0 {
		return ""
	}
	return fmt.Sprintf(" (%v more counts)", f.share)
}
