package main

// floor is a band of the picture: packages that build on the floors below.
type floor struct {
	name string
	rows [][]box // the top row first; a box imports boxes on its right, or below
}

// box is a package in the picture.
type box struct {
	name        string // the folder in the repository, or the import path of a module
	left, right int    // positions on the page
	short       string // what the box says; empty for the name
}

func (b box) text() string {
	if b.short != "" {
		return b.short
	}
	return b.name
}

// plan is the house from the roof down. Positions are chosen by hand, so that
// arrows run straight down, or down and aside. What they say is read from the
// code.
var plan = []floor{
	{"programs, views, tests", [][]box{
		{
			{name: "cmd/zklock", left: 130, right: 330},
			{name: "debug/curatorz", left: 345, right: 450},
			{name: "tracing", left: 465, right: 830},
			{name: "go.opentelemetry.io/otel", left: 842, right: 935, short: "OpenTelemetry"},
			{name: "testing/explore", left: 943, right: 1003, short: "explore"},
			{name: "cmd/zkfake", left: 1009, right: 1062},
		},
		{
			{name: "debug/snapshot", left: 205, right: 275, short: "snapshot"},
			{name: "recipes/discovery/httpsd", left: 785, right: 840, short: "httpsd"},
			{name: "testing/curatortest", left: 850, right: 935, short: "curatortest"},
			{name: "testing/zktest", left: 955, right: 1005, short: "zktest"},
			{name: "testing/zkserver", left: 1020, right: 1080, short: "zkserver"},
		},
	}},
	{"recipes", [][]box{
		{
			{name: "recipes/inspect", left: 130, right: 200, short: "inspect"},
			{name: "recipes/discovery", left: 515, right: 580, short: "discovery"},
		},
		{
			{name: "recipes/leader", left: 265, right: 375, short: "leader"},
			{name: "recipes/barriers", left: 400, right: 480, short: "barriers"},
			{name: "recipes/cache", left: 490, right: 540, short: "cache"},
			{name: "recipes/nodes", left: 555, right: 610, short: "nodes"},
			{name: "recipes/atomic", left: 620, right: 675, short: "atomic"},
			{name: "recipes/shared", left: 690, right: 785, short: "shared"},
			{name: "recipes/fence", left: 870, right: 925, short: "fence"},
		},
		{
			{name: "recipes/locks", left: 130, right: 340, short: "locks"},
			{name: "recipes/codec", left: 735, right: 785, short: "codec"},
		},
	}},
	{"drivers, in recipes/ internal", [][]box{
		{
			{name: "recipes/internal/queue", left: 130, right: 310, short: "queue"},
			{name: "recipes/internal/sharednode", left: 690, right: 785, short: "sharednode"},
		},
		{
			{name: "recipes/internal/claim", left: 130, right: 240, short: "claim"},
			{name: "recipes/internal/identity", left: 265, right: 345, short: "identity"},
		},
		{
			{name: "recipes/internal/trace", left: 130, right: 250, short: "trace"},
		},
		{
			{name: "recipes/locktrace", left: 130, right: 205, short: "locktrace"},
			{name: "recipes/internal/lockloop", left: 220, right: 345, short: "lockloop"},
		},
		{
			{name: "recipes/internal/follow", left: 370, right: 690, short: "follow"},
		},
		{
			{name: "recipes/internal/event", left: 220, right: 860, short: "event"},
		},
	}},
	{"framework", [][]box{
		{
			{name: "framework", left: 130, right: 965},
		},
		{
			{name: "framework/internal/watches", left: 690, right: 890, short: "internal/watches"},
		},
		{
			{name: "framework/internal/suspects", left: 630, right: 770, short: "internal/suspects"},
		},
		{
			{name: "framework/clienttrace", left: 130, right: 250, short: "clienttrace"},
			{name: "framework/internal/connstate", left: 270, right: 410, short: "internal/connstate"},
			{name: "framework/internal/teller", left: 490, right: 610, short: "internal/teller"},
			{name: "framework/internal/transport", left: 630, right: 770, short: "internal/transport"},
			{name: "github.com/go-zookeeper/zk", left: 830, right: 965, short: "go-zookeeper"},
		},
	}},
	{"ground", [][]box{
		{
			{name: "state", left: 130, right: 410},
			{name: "retry", left: 425, right: 475},
			{name: "framework/internal/proto", left: 630, right: 770, short: "internal/proto"},
		},
	}},
}

// helpers are small packages that any floor may import. The picture lists them
// without arrows.
var helpers = []string{
	"internal/broadcast", "internal/flight", "internal/hooks", "internal/hostname", "internal/pauses", "internal/printable",
	"internal/random", "internal/reason", "internal/semconv", "internal/suspension", "internal/textwidth", "internal/znode",
}

// boxes returns all boxes, and the row of each in the whole house.
func boxes() (all []box, rowOf map[string]int) {
	rowOf = map[string]int{}
	row := 0
	for _, f := range plan {
		for _, r := range f.rows {
			for _, b := range r {
				all = append(all, b)
				rowOf[b.name] = row
			}
			row++
		}
	}
	return all, rowOf
}
