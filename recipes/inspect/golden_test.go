package inspect_test

import (
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/inspect"
)

var update = flag.Bool("update", false, "write the golden files")

// The JSON of recipes and graphs is what programs read. It changes only on
// purpose: with the flag -update.
func TestJSON(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		own := func(service, trace string) string {
			return `{"v":1,"host":"web-1","pid":4711,"service":"` + service + `","since":"2026-01-02T15:04:05.678Z",` +
				`"trace":{"traceparent":"00-` + trace + `-b7ad6b7169203331-01"}}`
		}
		sessions := map[string]*framework.Client{} // one for each data
		for _, node := range []struct{ path, data string }{
			{"/a/" + javaIs + "lock-0000000001", own("orders", "0af7651916cd43dd8448eb211c80319c")},
			{"/a/" + javaIs + "lock-0000000002", "10.0.0.7"},
			{"/b/" + javaIs + "lock-0000000001", "10.0.0.7"},
			{"/b/" + javaIs + "lock-0000000002", own("orders", "0af7651916cd43dd8448eb211c80319c")},
			{"/c/__READ__0000000001", ""}, {"/c/__WRIT__0000000002", "__REVOKE__"}, {"/c/__READ__0000000003", ""},
			{"/d/leases/lease-0000000001", "10.0.0.8"}, {"/d/locks/lock-0000000002", "10.0.0.9"},
			{"/d/leases/lease-0000000002", "10.0.0.9"},
			{"/e/latch-0000000001", "node-1"}, {"/f/web-1", "10.0.0.7:80"}, {"/g/queue-0000000001", "x"},
		} {
			if sessions[node.data] == nil {
				sessions[node.data], _ = w.Connect(t)
			}
			create(t, sessions[node.data], node.path, node.data, framework.Ephemeral)
		}
		create(t, w.Observer, "/d-limit", "\x00\x00\x00\x01", framework.Persistent)
		limits := inspect.WithSharedLimits(func(semaphore string) string { return semaphore + "-limit" })
		recipes := w.walk(t, "/", limits)
		for i := range recipes {
			fix(&recipes[i].Since, recipes[i].Holders, recipes[i].Waiters)
		}
		requireGolden(t, "testdata/recipes.json", recipes)

		graph := w.graph(t, limits)
		for i := range graph.Waits {
			fix(nil, graph.Waits[i].Holders, graph.Waits[i].Waiters)
		}
		for i := range graph.Deadlocks {
			d := &graph.Deadlocks[i]
			fix(&d.Since)
			for i := range d.Cycle {
				fixOne(&d.Cycle[i].Waiter)
				fixOne(&d.Cycle[i].Holder)
				d.Processes[i] = d.Cycle[i].Waiter.String()
			}
		}
		requireGolden(t, "testdata/graph.json", graph)
	})
}

var day = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// fix replaces what is different in each run.
func fix(since *time.Time, participants ...[]inspect.Participant) {
	if since != nil && !since.IsZero() {
		*since = day
	}
	for _, all := range participants {
		for i := range all {
			fixOne(&all[i])
		}
	}
}

func fixOne(p *inspect.Participant) {
	p.Since, p.Czxid, p.Session = day, int64(p.Position)+0x100000001, 0x1000a2b3c4d0001
}

func requireGolden(t *testing.T, file string, value any) {
	t.Helper()
	got, err := json.MarshalIndent(value, "", "\t")
	require.NoError(t, err)
	got = append(got, '\n')
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(file, got, 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// What is written as JSON is read back the same.
func TestJSONIsReadBack(t *testing.T) {
	data, err := os.ReadFile("testdata/recipes.json")
	require.NoError(t, err)
	var recipes []inspect.Recipe
	require.NoError(t, json.Unmarshal(data, &recipes))
	require.Len(t, recipes, 7)
	again, err := json.MarshalIndent(recipes, "", "\t")
	require.NoError(t, err)
	require.Equal(t, string(data), string(again)+"\n")
	for _, text := range []string{`"1"`, `"0xx"`, `"0x10000000000000000"`} {
		require.Error(t, json.Unmarshal([]byte(text), new(inspect.SessionID)), text)
	}
}
