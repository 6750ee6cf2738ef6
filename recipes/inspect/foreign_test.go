package inspect_test

import (
	"maps"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/inspect"
)

const (
	uuid    = "3e5a60df-061d-4981-a166-73c06f3f53fc"
	hex     = "3e5a60df061d4981a16673c06f3f53fc"
	javaIs  = "_c_" + uuid + "-"
	zkLock  = "_c_" + hex + "-" // go-zookeeper's Lock
	pyMutex = hex + "__lock__"
	pyRead  = hex + "__rlock__"
)

// scene is a tree as other clients make it, and what is reported of it. Names
// that end with a slash are nodes that are not ephemeral.
type scene struct {
	nodes    map[string]string // paths and their data
	kind     inspect.Kind
	layout   string
	mayBe    []inspect.Kind
	holders  []string // without the path of the recipe
	waiters  []string
	limit    int // -1 if it is not known
	items    int
	notFound bool
}

var scenes = map[string]scene{
	"java mutex": {
		nodes: map[string]string{javaIs + "lock-0000000009": "10.0.0.9", javaIs + "lock-0000000010": "10.0.0.10"},
		kind:  inspect.Mutex, layout: "curator", mayBe: []inspect.Kind{"leader_selector"},
		holders: []string{javaIs + "lock-0000000009"}, waiters: []string{javaIs + "lock-0000000010"},
	},
	"java and go-zookeeper in one queue": {
		nodes: map[string]string{javaIs + "lock-0000000003": "", zkLock + "lock-0000000002": "", "lock-0000000001": ""},
		kind:  inspect.Mutex, layout: "curator", mayBe: []inspect.Kind{"leader_selector"},
		holders: []string{"lock-0000000001"}, waiters: []string{zkLock + "lock-0000000002", javaIs + "lock-0000000003"},
	},
	"java read/write lock": {
		nodes: map[string]string{
			javaIs + "__WRIT__0000000004": "", javaIs + "__READ__0000000005": "", javaIs + "__READ__0000000003": "",
		},
		kind: inspect.ReadWriteLock, layout: "curator",
		holders: []string{javaIs + "__READ__0000000003"},
		waiters: []string{javaIs + "__WRIT__0000000004", javaIs + "__READ__0000000005"},
	},
	"java downgrade": {
		nodes: map[string]string{javaIs + "__WRIT__0000000004": "", javaIs + "__READ__0000000004": ""},
		kind:  inspect.ReadWriteLock, layout: "curator",
		holders: []string{javaIs + "__READ__0000000004"}, waiters: []string{javaIs + "__WRIT__0000000004"},
	},
	"java latch": {
		nodes: map[string]string{javaIs + "latch-0000000001": "node-1"},
		kind:  inspect.LeaderLatch, layout: "curator",
		holders: []string{javaIs + "latch-0000000001"},
	},
	"java semaphore": {
		nodes: map[string]string{"leases/" + javaIs + "lease-0000000001": "10.0.0.1", "locks/": ""},
		kind:  inspect.Semaphore, layout: "curator", mayBe: []inspect.Kind{"semaphore_mutex"},
		holders: []string{"leases/" + javaIs + "lease-0000000001"}, limit: -1,
	},
	"leases alone": {
		nodes: map[string]string{"leases/lease-0000000001": "", "leases/other": ""},
		kind:  inspect.Semaphore, layout: "curator", holders: []string{"leases/lease-0000000001", "leases/other"},
	},
	"a gate alone": {
		nodes: map[string]string{"locks/" + javaIs + "lock-0000000001": "", "leases/": ""},
		kind:  inspect.Semaphore, layout: "curator",
		mayBe:   []inspect.Kind{"semaphore_mutex", inspect.Mutex},
		waiters: []string{"locks/" + javaIs + "lock-0000000001"}, limit: -1,
	},
	"kazoo lock": {
		nodes: map[string]string{pyMutex + "0000000001": "me", pyMutex + "0000000000": ""},
		kind:  inspect.Mutex, layout: "kazoo", mayBe: []inspect.Kind{inspect.ReadWriteLock, "election"},
		holders: []string{pyMutex + "0000000000"}, waiters: []string{pyMutex + "0000000001"},
	},
	"kazoo read/write lock": {
		nodes: map[string]string{pyMutex + "0000000002": "", pyRead + "0000000001": "", pyRead + "0000000000": ""},
		kind:  inspect.ReadWriteLock, layout: "kazoo",
		holders: []string{pyRead + "0000000000", pyRead + "0000000001"}, waiters: []string{pyMutex + "0000000002"},
	},
	"kazoo party": {
		nodes: map[string]string{hex + "__party__": "one"}, kind: inspect.Registrations,
		holders: []string{hex + "__party__"},
	},
	"kazoo queue": {
		nodes: map[string]string{"entry-100-0000000000/": "x", "entry-001-0000000001/": "y"},
		kind:  inspect.Queue, layout: "kazoo", items: 2,
	},
	"kazoo locking queue": {
		nodes: map[string]string{
			"entries/entry-100-0000000000/": "x", "entries/entry-100-0000000001/": "y", "taken/entry-100-0000000000": "w",
		},
		kind: inspect.Queue, layout: "kazoo", items: 2, holders: []string{"taken/entry-100-0000000000"},
	},
	"java queues": {
		nodes: map[string]string{
			"queue-0000000000/": "", "queue-|id|0000000001/": "", "queue-1000000050000000000/": "", "qn-0000000003/": "",
		},
		kind: inspect.Queue, layout: "curator", items: 4,
	},
	"a double barrier": {
		nodes: map[string]string{uuid: "", "ready/": ""}, kind: inspect.Registrations, holders: []string{uuid},
	},
	"other names": {
		nodes: map[string]string{
			"lock-1/": "", "deadlock-0000000001/": "", "queue-/": "", "locks/": "", "leases/": "", "lock-00000000001/": "",
			"entry-x/": "", hex + "/": "", "entries/": "", "taken/": "",
		},
		notFound: true,
	},
}

// Nodes are recognised with the names that Java Curator, go-zookeeper and kazoo
// give them.
func TestNodesOfOthersAreRecognised(t *testing.T) {
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				for _, node := range slices.Sorted(maps.Keys(s.nodes)) {
					data := s.nodes[node]
					mode := framework.Ephemeral
					if node[len(node)-1] == '/' {
						node, mode = node[:len(node)-1], framework.Persistent
					}
					create(t, w.Observer, "/r/"+node, data, mode)
				}
				if s.notFound {
					require.Empty(t, w.walk(t, "/r"))
					return
				}
				r := w.one(t, "/r")
				require.Equal(t, s.kind, r.Kind)
				require.Equal(t, s.layout, r.Layout)
				require.Equal(t, s.mayBe, r.MayBe)
				require.Equal(t, under("/r", s.holders), nodesIn(r.Holders))
				require.Equal(t, under("/r", s.waiters), nodesIn(r.Waiters))
				require.Equal(t, s.items, r.Items)
				require.Equal(t, s.items > 0, !r.Since.IsZero())
				if s.limit <= 0 {
					require.Nil(t, r.Limit)
				}
			})
		})
	}
}

func under(dir string, names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, path.Join(dir, name))
	}
	return paths
}

// A semaphore of kazoo has its gate beside it. The gate is reported with the
// semaphore, and not once more.
func TestKazooSemaphore(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		create(t, w.Observer, "/s", "2", framework.Persistent)
		create(t, w.Observer, "/s/"+hex, "one", framework.Ephemeral)
		create(t, w.Observer, "/s/0"+hex[1:], "two", framework.Ephemeral)
		create(t, w.Observer, "/s-__lock__/"+pyMutex+"0000000007", "three", framework.Ephemeral)
		r := w.walk(t, "/")
		require.Len(t, r, 1)
		require.Equal(t, inspect.Semaphore, r[0].Kind)
		require.Equal(t, "kazoo", r[0].Layout)
		require.Equal(t, 2, *r[0].Limit)
		require.Equal(t, []string{"one", "two"}, ids(r[0].Holders))
		require.Equal(t, []string{"three"}, ids(r[0].Waiters))
		require.Equal(t, r[0], w.one(t, "/s"))

		gate := w.one(t, "/s-__lock__")
		require.Equal(t, inspect.Mutex, gate.Kind)
		require.Contains(t, gate.MayBe, inspect.Semaphore)
		require.Empty(t, w.walk(t, "/", inspect.WithKinds(inspect.Registrations)), "a selection changes no kind")
		require.Empty(t, w.walk(t, "/", inspect.WithKinds(inspect.Mutex)))
	})
}

// Locks of several kinds on one path do not exclude each other, and each is
// told.
func TestSeveralRecipesOnOnePath(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for _, name := range []string{
			javaIs + "lock-0000000001", javaIs + "__WRIT__0000000002", javaIs + "latch-0000000003", pyMutex + "0000000004",
			"queue-0000000005", "someone",
		} {
			create(t, w.Observer, "/p/"+name, name, framework.Ephemeral)
		}
		create(t, w.Observer, "/p/0/"+javaIs+"lock-0000000001", "", framework.Ephemeral)
		create(t, w.Observer, "/p/lock-0000000009/x/"+javaIs+"lock-0000000001", "", framework.Ephemeral)
		var told []string
		for _, r := range w.walk(t, "/p") {
			told = append(told, r.Path+" "+r.Layout+" "+string(r.Kind))
		}
		require.Equal(t, []string{
			"/p/0 curator mutex", "/p/lock-0000000009/x curator mutex", "/p curator mutex", "/p curator read_write_lock",
			"/p curator leader_latch", "/p kazoo mutex", "/p curator queue", "/p  registrations",
		}, told)
	})
}

// A contender without a session stays when its process crashes. If numbers do not show
// the order, the oldest node is first.
func TestContendersThatAreOutOfTheOrdinary(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		create(t, w.Observer, "/p/"+pyMutex+"0000000001", "left", framework.Persistent)
		require.Zero(t, w.one(t, "/p").Holders[0].Session)

		for _, name := range []string{"b", "a", "c"} { // all without a number of their own
			create(t, w.Observer, "/o/_c_"+name+"-lock-2147483647", name, framework.Ephemeral)
		}
		r := w.one(t, "/o", inspect.WithMaxParticipants(2))
		require.Equal(t, []string{"b"}, ids(r.Holders))
		require.Equal(t, []string{"a"}, ids(r.Waiters))
		require.Equal(t, 1, r.Unread)
	})
}
