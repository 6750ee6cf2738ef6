package inspect

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/discovery"
)

// Instance is a node of a registry: an instance of a service, or one that should
// be.
type Instance struct {
	discovery.Instance

	Path    string
	Since   time.Time // the time at which the node was created, by the server's clock; zero if not known
	Session SessionID // 0 if the node is not ephemeral, or may not be read

	// SameAs is the ID of an earlier instance of the service with the same address
	// and ports, or empty. One of the two is likely left of a process that has
	// crashed, until its session has timed out.
	SameAs string

	// Problem says why the node is no instance, though it should be; empty if it
	// is one.
	Problem string
}

// Services returns the nodes below the base of a registry that are instances of
// services, or should be, in the order of their paths. It only reads, and sets no
// watch: a discovery.Directory is for programs that call the instances.
//
//	for i, err := range inspect.Services(ctx, client, "/services", discovery.CuratorCodec()) {
//		if err != nil {
//			return err // the answer is not complete
//		}
//		fmt.Println(i.Service, i.ID, i.Address, i.Port, i.Session)
//	}
//
// Errors are as those of Walk. Nodes that go meanwhile are no error, and each
// instance is what its node was when it was read. Memory is taken for the names
// of the nodes of a service, and for the addresses of its instances.
func Services(ctx context.Context, c *framework.Client, base string, codec discovery.Codec) iter.Seq2[Instance, error] {
	return func(yield func(Instance, error) bool) {
		cfg := configOf(nil)
		err := check(c, base, cfg)
		if err == nil && codec == nil {
			err = &framework.ConfigError{Name: "codec", Value: "nil", Reason: "must not be nil"}
		}
		if err == nil {
			err = faultOf(codec)
		}
		if err == nil {
			r := &registry{reader: newReader(ctx, c, cfg.requests), base: base, codec: codec}
			r.yield = func(i Instance) bool { return yield(i, nil) }
			err = r.all()
		}
		if err != nil {
			yield(Instance{}, opError(base, gaveUp(ctx, c, err)))
		}
	}
}

// faultOf returns which option of a codec cannot be used. Dir says that, whatever
// the service.
func faultOf(codec discovery.Codec) error {
	if _, err := codec.Dir("any"); reason.Is(err, zk.ErrBadArguments) {
		return err
	}
	return nil
}

// registry is one look at a registry.
type registry struct {
	reader
	base  string
	codec discovery.Codec
	yield func(Instance) bool
}

// atOnce is how many nodes are read before the first of them is handed out.
const atOnce = 256

func (r *registry) all() error {
	names, _, err := r.children(r.base)
	if err == nil {
		_, err = r.below(r.base, names)
	}
	return err
}

// below hands out what is below a node with these children. It returns false if
// nobody wants more.
func (r *registry) below(dir string, names []string) (more bool, err error) {
	slices.Sort(names)
	known := map[endpoint]string{}
	for some := range slices.Chunk(names, atOnce) {
		nodes := make([]registered, len(some))
		err := r.readers.Each(len(some), func(i int) (err error) {
			nodes[i], err = r.visit(znode.Join(dir, some[i]))
			return err
		})
		if err != nil {
			return false, err
		}
		for _, n := range nodes {
			if i, ok := r.instance(n); ok && !r.yield(withTwin(i, known)) {
				return false, nil
			}
			if more, err := r.below(n.path, n.children); !more || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// registered is a node that was read.
type registered struct {
	path     string
	data     []byte
	stat     *zk.Stat // nil if the node is gone, or may not be read
	children []string
	hidden   bool // it may not be read, or not be listed
}

func (r *registry) visit(path string) (n registered, err error) {
	n.path = path
	n.data, n.stat, err = r.data(r.ctx, path)
	if err == nil && n.stat.NumChildren > 0 {
		n.children, _, err = r.children(path)
	}
	switch {
	case reason.Is(err, zk.ErrNoNode):
		return registered{path: path}, nil
	case reason.Is(err, zk.ErrNoAuth):
		return registered{path: path, hidden: true}, nil
	}
	return n, err
}

// instance returns what a node says. It returns false if the node need not be an
// instance: a parent, for example.
func (r *registry) instance(n registered) (i Instance, ok bool) {
	parent, name := znode.Split(n.path)
	service, ok := r.serviceOf(strings.TrimPrefix(parent, strings.TrimSuffix(r.base, "/")))
	i = Instance{Instance: discovery.Instance{Service: service, ID: name}, Path: n.path}
	if n.hidden {
		i.Problem = "may not be read"
		return i, true
	}
	if !ok || n.stat == nil {
		return i, false
	}
	i.Since, i.Session = time.UnixMilli(n.stat.Ctime).UTC(), SessionID(n.stat.EphemeralOwner)
	said, err := r.codec.Decode(service, name, n.data)
	switch {
	case err == nil:
		i.Instance = said
		i.Service, i.ID = service, name
	case reason.Is(err, discovery.ErrNotInstance) || len(n.children) > 0:
		return i, false
	default:
		i.Problem = "malformed: " + err.Error()
	}
	return i, true
}

// serviceOf returns whose nodes are below a path, as a discovery.Directory sees
// it.
func (r *registry) serviceOf(dir string) (string, bool) {
	service, ok := r.codec.Service(dir)
	if !ok {
		return "", false
	}
	own, err := r.codec.Dir(service)
	return service, err == nil && own == dir
}

// instanceOf returns the instance that a node says it is, or nil. Java's formats
// have the name of the node, and of the service in whose folder it is.
func instanceOf(nodePath string, data []byte) *discovery.Instance {
	var said struct{ Name, ID string }
	parent, name := znode.Split(nodePath)
	if json.Unmarshal(data, &said) != nil || said.ID != name || said.Name == "" || !strings.HasSuffix(parent, "/"+said.Name) {
		return nil
	}
	i, err := discovery.CuratorCodec().Decode(said.Name, name, data)
	if err != nil {
		return nil
	}
	return &i
}

// endpoint is where an instance listens.
type endpoint struct {
	address       string
	port, tlsPort int
}

// withTwin returns an instance with an earlier one at the same address.
func withTwin(i Instance, known map[endpoint]string) Instance {
	at := endpoint{i.Address, i.Port, i.TLSPort}
	if i.Problem != "" || at == (endpoint{}) {
		return i
	}
	if first, taken := known[at]; taken {
		i.SameAs = first
	} else {
		known[at] = i.ID
	}
	return i
}
