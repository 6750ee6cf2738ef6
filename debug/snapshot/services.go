package snapshot

import (
	"cmp"
	"slices"

	"github.com/gocurator/curator/internal/flight"
)

// instancesOf returns the registrations that are instances of services, by
// service and ID.
func instancesOf(all []flight.Registration) []Instance {
	instances := []Instance{}
	for _, r := range all {
		if r.Instance != nil {
			instances = append(instances, instanceOf(r))
		}
	}
	slices.SortFunc(instances, func(a, b Instance) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.ID, b.ID))
	})
	return instances
}

func instanceOf(r flight.Registration) Instance {
	i := Instance{
		Service: r.Instance.Service, ID: r.Instance.ID, Address: r.Instance.Address,
		Port: r.Instance.Port, TLSPort: r.Instance.TLSPort,
		State: stateOfInstance(r), Node: cmp.Or(r.Node, r.Path), Since: r.Changed,
	}
	switch i.State {
	case "ended":
		i.Since, i.Trouble = r.Ended, text(r.Why)
	default:
		i.Trouble = text(r.Err)
	}
	return i
}

// stateOfInstance returns the code of a state: see Instance.State.
func stateOfInstance(r flight.Registration) string {
	switch {
	case !r.Ended.IsZero():
		return "ended"
	case r.Deleting:
		return "deleting"
	case r.Conflict:
		return "conflict"
	case r.Node == "":
		return "missing"
	case r.Instance.Drains:
		return "draining"
	}
	return "registered"
}

func directoryOf(d flight.Directory) Directory {
	shown := Directory{
		Root: d.Root, Filled: d.Filled, Interrupted: d.Interrupted, Zxid: d.Zxid,
		Services:  fewOf(d.Services, func(s flight.Service) Service { return Service(s) }),
		Malformed: fewOf(d.Bad, func(b flight.BadNode) Bad { return Bad{b.Path, text(b.Err)} }),
		Trouble:   text(d.Err), Error: text(d.Why), Ended: d.Ended,
	}
	for _, s := range d.Services {
		shown.Instances += s.Instances
	}
	return shown
}

// fewOf converts the first MaxShown.
func fewOf[From, To any](all []From, convert func(From) To) List[To] {
	return List[To]{Total: len(all), Items: converted(all[:min(len(all), MaxShown)], convert)}
}
