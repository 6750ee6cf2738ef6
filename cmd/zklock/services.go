package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"

	"github.com/gocurator/curator/cmd/zklock/internal/cli"
	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/inspect"
)

var servicesCommand = &command{
	Name:    "services",
	Purpose: "list services, and who is registered",
	Usage:   "[flags] [PATH]",
	MaxArgs: 1,
	Long: `
The list has the instances of all services below PATH, by default "/services".
STATE is "up", "disabled" if an instance does not accept calls, or the problem
of a node that should be an instance. "as ID" names another instance of the
service with the same address and ports. SINCE is when the node was created;
SESSION is the session that owns the node, or "none".

  zklock services --codec dubbo-interface /dubbo
`,
	Define: defineServices,
}

// defaultBase is the path of services in Spring and Dubbo, and often with Java Curator.
const defaultBase = "/services"

// codecs has the formats of registries.
var codecs = map[string]discovery.Codec{
	"curator": discovery.CuratorCodec(), "spring": discovery.SpringCodec(), "dubbo": discovery.DubboCodec(),
	"dubbo-interface": discovery.DubboInterfaceCodec("dubbo"), "serverset": discovery.ServersetCodec(),
}

func defineServices(fs *flag.FlagSet) action {
	codec := "curator"
	cli.WordVar(fs, &codec, "codec", "codec", "the `form` of the nodes; curator reads Spring's and Dubbo's, too",
		slices.Sorted(maps.Keys(codecs))...)
	return func(ctx context.Context, e *env) error {
		base := defaultBase
		if len(e.args) > 0 {
			base = e.args[0]
		}
		return listServices(ctx, e, base, codecs[codec])
	}
}

// listServices prints instances while it still reads.
func listServices(ctx context.Context, e *env, base string, codec discovery.Codec) error {
	c, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	rows := columns.New(e.out, e.coloured())
	found := 0
	for r, err := range inspect.Walk(ctx, c, base, inspect.WithServices(codec), inspect.WithKinds(inspect.Registrations)) {
		if err != nil {
			rows.Flush()
			return orMissing(err, base)
		}
		known := map[endpoint]string{}
		for _, p := range instancesIn(r) {
			if found++; found == 1 && !e.isJSON() {
				rows.Header(e.view().InstanceHeader()...)
			}
			if err := e.printInstance(rows, p, twinOf(p, known)); err != nil {
				return err
			}
		}
	}
	if found == 0 && !e.isJSON() {
		fmt.Fprintln(e.err, "no instance of a service is below", printable.String(base))
	}
	return rows.Flush()
}

// instancesIn returns the instances of services, and the nodes that should be
// instances.
func instancesIn(r inspect.Recipe) []inspect.Participant {
	if r.Kind == inspect.Unreadable {
		_, name := znode.Split(r.Path)
		return []inspect.Participant{{Path: r.Path, Unreadable: true, Instance: &discovery.Instance{ID: name}}}
	}
	return slices.DeleteFunc(r.Holders, func(p inspect.Participant) bool { return p.Instance == nil })
}

// endpoint is where an instance listens.
type endpoint struct {
	address       string
	port, tlsPort int
}

// twinOf returns the ID of an earlier instance of the service with the same address and
// ports, or "". One of the two probably belongs to a crashed process whose session has
// not timed out yet.
func twinOf(p inspect.Participant, known map[endpoint]string) string {
	at := endpoint{p.Instance.Address, p.Instance.Port, p.Instance.TLSPort}
	if p.Problem != "" || at == (endpoint{}) {
		return ""
	}
	if first, taken := known[at]; taken {
		return first
	}
	known[at] = p.Instance.ID
	return ""
}

func (e *env) printInstance(rows *columns.Writer, p inspect.Participant, twin string) error {
	if e.isJSON() {
		return e.writeJSON(e.view().Instance(p, twin))
	}
	return rows.Row(e.view().InstanceRow(p, twin)...)
}
