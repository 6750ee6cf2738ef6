package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/testing/zktest"
)

// disruption makes a disruption that lasts for at most d.
type disruption func(d time.Duration) zktest.Disruption

// disruptions are the disruptions of /chaos, by the words of do=.
var disruptions = map[string]disruption{
	"expire":        over(zktest.ExpireSession()),
	"cut":           over(zktest.CutSession()),
	"replace":       over(zktest.ReplaceSession()),
	"pause_session": zktest.PauseSessionFor,
	"stop":          zktest.StopFor,
	"pause":         zktest.PauseFor,
	"blackhole":     zktest.BlackholeFor,
	"refuse":        zktest.RefuseFor,
}

// ensembleDisruptions are the disruptions that need an ensemble.
var ensembleDisruptions = map[string]disruption{
	"partition": zktest.PartitionFor,
	"lag":       func(d time.Duration) zktest.Disruption { return zktest.LagFor(d, d) },
	"resign":    over(zktest.ResignLeader()),
}

// over is a disruption that is over at once.
func over(d zktest.Disruption) disruption { return func(time.Duration) zktest.Disruption { return d } }

func (c *control) beginChaos(r *http.Request) (any, error) {
	if err := onlyParameters(r, "seed", "every", "atmost", "do", "lose", "loseanswer", "latency"); err != nil {
		return nil, err
	}
	n := numbers{query: r.URL.Query()}
	plan := zktest.ChaosPlan{
		Seed:    n.seed(),
		Latency: n.duration("latency", time.Millisecond),
		Every:   n.duration("every", 2*time.Second),
		Faults: []zktest.FaultRate{
			{Chance: n.chance("lose"), Rule: zktest.Rule{Do: zktest.DropRequest()}},
			{Chance: n.chance("loseanswer"), Rule: zktest.Rule{Do: zktest.DropReply()}},
		},
	}
	atMost := n.duration("atmost", time.Second)
	if n.err != nil {
		return nil, n.err
	}
	do, err := c.disruptions(r.URL.Query().Get("do"))
	if err != nil {
		return nil, err
	}
	for _, d := range do {
		plan.Disruptions = append(plan.Disruptions, d(atMost))
	}
	if c.chaos {
		return nil, conflict("random faults are at work already: DELETE /chaos ends them")
	}
	if err := c.servers.startFaults(plan); err != nil {
		return nil, badRequest("%v", err)
	}
	c.chaos = true
	return nil, nil
}

// disruptions returns the disruptions named in a comma-separated list. An empty list
// means all disruptions; "none" means none.
func (c *control) disruptions(names string) ([]disruption, error) {
	known := maps.Clone(disruptions)
	if c.servers.ens != nil {
		maps.Copy(known, ensembleDisruptions)
	}
	switch names {
	case "none":
		return nil, nil
	case "":
		names = strings.Join(slices.Sorted(maps.Keys(known)), ",")
	}
	var do []disruption
	for name := range strings.SplitSeq(names, ",") {
		d, ok := known[name]
		switch {
		case ok:
			do = append(do, d)
		case ensembleDisruptions[name] != nil:
			return nil, badRequest("do=%s: needs an ensemble (-members)", name)
		default:
			return nil, badRequest("do=%s: one of %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ","))
		}
	}
	return do, nil
}

func (c *control) endChaos(r *http.Request) (any, error) {
	if err := onlyParameters(r); err != nil {
		return nil, err
	}
	c.servers.stopFaults()
	c.chaos = false
	return nil, nil
}

type eventBody struct {
	Time time.Time `json:"time"`
	What string    `json:"what"`
}

func (c *control) chaosLog(r *http.Request) (any, error) {
	if err := onlyParameters(r); err != nil {
		return nil, err
	}
	bodies := []eventBody{}
	for _, e := range c.servers.events() {
		bodies = append(bodies, eventBody{e.Time.UTC(), e.What})
	}
	return bodies, nil
}
