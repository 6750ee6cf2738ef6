package discovery

import (
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/insider"
)

// record has the client's flight recorder show of which instance the node is.
func (r *Registration) record() {
	insider.Of(r.client).Recorder().Followers().Registrations.Describe(r.events.FullPath(), func(of *flight.Registration) {
		i := r.Instance()
		of.Instance = &flight.Instance{
			Service: i.Service, ID: i.ID, Address: i.Address, Port: i.Port, TLSPort: i.TLSPort, Drains: i.Disabled,
		}
	})
}

// record has the client's flight recorder show the directory. The returned
// function ends that, with the error that Err returns.
func (d *Directory) record(client *framework.Client) (end func()) {
	told := insider.Of(client).Recorder().Followers().Directories.Add(d.events.FullPath(), d.recorded)
	return func() { told(d.life.UnlessWanted(d.Err())) }
}

// recorded describes the directory for the flight recorder.
func (d *Directory) recorded() flight.Directory {
	s := d.Snapshot()
	now := flight.Directory{
		Root: d.events.FullPath(), Filled: s.Filled, Interrupted: s.Interrupted, Err: s.Err, Zxid: s.Zxid,
	}
	for _, name := range s.Services() {
		of := flight.Service{Name: name}
		for _, e := range s.Of(name) {
			of.Instances++
			if e.Disabled {
				of.Drained++
			}
		}
		now.Services = append(now.Services, of)
	}
	for _, b := range s.Bad {
		now.Bad = append(now.Bad, flight.BadNode{Path: d.events.At(b.Path).FullPath(), Err: b.Err})
	}
	return now
}
