package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/discovery"
)

// addressNames is a format whose nodes are named by their addresses and have no data.
type addressNames struct{ discovery.Codec }

func (addressNames) Decode(service, name string, _ []byte) (discovery.Instance, error) {
	host, port, err := net.SplitHostPort(name)
	n, bad := strconv.Atoi(port)
	return discovery.Instance{Service: service, ID: name, Address: host, Port: n}, cmp.Or(err, bad)
}

// Three nodes are malformed, of which two change at times. They become instances, or
// folders of them. A reader who takes its time is told of each version once.
func TestServicesOfMalformedNodes(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{{"in peace", none}, {"cut", cut}, {"lost", loss}} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, malformedNodes(c.own), quick()) })
	}
}

func malformedNodes(own trouble) explore.Scenario {
	return func(w *explore.World) {
		all := []string{"a", "b", "c"}
		const team = registry + "/team"
		w.Node(registry, "")
		w.Node(team, "")
		for _, name := range all {
			w.Node(team+"/"+name, "")
		}
		versions := map[string]map[int64]bool{} // of the data of each node
		told := map[string]int{}
		var d *discovery.Directory
		w.Always(func(tree explore.Tree) error {
			for _, name := range all {
				if versions[name] == nil {
					versions[name] = map[int64]bool{}
				}
				versions[name][tree[team+"/"+name].Stat.Mzxid] = true
				if told[name] > len(versions[name]) {
					return fmt.Errorf("it was told %d times that %s is malformed, of which there were %d versions", told[name], name, len(versions[name]))
				}
			}
			return nil
		})
		w.Actor("A", func(a *explore.Actor) {
			var err error
			if d, err = discovery.NewServices(a.Client(), registry, addressNames{discovery.CuratorCodec()}); err != nil {
				refuse(w, a, err)
				return
			}
			go func() {
				for ch, err := range d.Changes(context.Background()) {
					if err == nil && ch.Type == discovery.Malformed {
						told[ch.Bad.ID]++
						time.Sleep(time.Second / 2)
					}
				}
			}()
			_ = a.Call("wait until it is filled", d.WaitSynced)
			own(a)
		})
		w.Actor("B", func(a *explore.Actor) {
			time.Sleep(5 * time.Second)
			for range 2 {
				for _, name := range []string{"a", "c"} {
					_ = a.Call("write "+name, func(ctx context.Context) error {
						_, err := a.Client().Set(ctx, team+"/"+name, nil, framework.AnyVersion)
						return err
					})
				}
			}
			time.Sleep(5 * time.Second)
			_ = a.Call("create an instance below b", func(ctx context.Context) error {
				_, err := a.Client().Create(ctx, team+"/b/10.0.0.7:80", nil)
				return err
			})
		})
		w.AtEnd(func(tree explore.Tree) error {
			if d == nil {
				return nil
			}
			defer d.Close()
			isBad := func(name string) bool {
				return slices.ContainsFunc(d.Snapshot().Bad, func(b *discovery.Bad) bool { return b.ID == name })
			}
			for _, name := range all {
				if want := len(below(tree, team+"/"+name)) == 0; isBad(name) != want && !reason.Is(d.Err(), framework.ErrClosed) {
					return fmt.Errorf("%s is malformed, says the directory: %t", name, !want)
				}
			}
			return nil
		})
	}
}
