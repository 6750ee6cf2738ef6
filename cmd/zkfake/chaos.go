package main

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// disruptions are the words of do=, which are kinds of zktest.Disruption.
var disruptions = []string{"blackhole", "cut", "expire", "pause", "pause_session", "refuse", "replace", "stop"}

// ensembleDisruptions are the words that need an ensemble.
var ensembleDisruptions = []string{"lag", "partition", "resign"}

func (c *control) beginChaos(r *http.Request) (any, error) {
	if err := onlyParameters(r, "seed", "every", "atmost", "do", "lose", "loseanswer", "latency"); err != nil {
		return nil, err
	}
	n := numbers{query: r.URL.Query()}
	plan := zktest.ChaosPlan{
		Seed:    n.seed(),
		Latency: n.duration("latency", time.Millisecond),
		Every:   n.duration("every", 2*time.Second),
		Faults: []zktest.Rule{
			{Chance: n.chance("lose"), Do: zktest.DropRequest()},
			{Chance: n.chance("loseanswer"), Do: zktest.DropReply()},
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
	for _, kind := range do {
		plan.Disruptions = append(plan.Disruptions, zktest.Disruption{Kind: kind, For: atMost, Lag: atMost})
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

// disruptions returns the kinds of disruptions named in a comma-separated list. An empty
// list means all kinds; "none" means none.
func (c *control) disruptions(names string) ([]string, error) {
	known := disruptions
	if c.servers.ens != nil {
		known = slices.Sorted(slices.Values(slices.Concat(disruptions, ensembleDisruptions)))
	}
	switch names {
	case "none":
		return nil, nil
	case "":
		return known, nil
	}
	do := strings.Split(names, ",")
	for _, name := range do {
		switch {
		case slices.Contains(known, name):
		case slices.Contains(ensembleDisruptions, name):
			return nil, badRequest("do=%s: needs an ensemble (-members)", name)
		default:
			return nil, badRequest("do=%s: one of %s", name, strings.Join(known, ","))
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
	for at, what := range zkinside.Of(c.servers.all[0]).Events {
		bodies = append(bodies, eventBody{at.UTC(), what})
	}
	return bodies, nil
}
