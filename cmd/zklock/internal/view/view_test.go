package view_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/inspect"
)

var update = flag.Bool("update", false, "write the golden files")

var now = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

const guid = "_c_3e5a60df-061d-4981-a166-73c06f3f53fc-"

// ours is a node of this library.
func ours(path string, position int, age time.Duration) inspect.Participant {
	pid := 4711 + position
	return inspect.Participant{
		Path: path, Position: position, Czxid: int64(0x100000010 + position), Session: int64(0x1000a2b3c4d0001 + position),
		Since: ago(age), ID: fmt.Sprintf("orders@web-1/%d", pid), Service: "orders", Host: "web-1", PID: pid, Waiting: ago(age + time.Second),
		Trace: map[string]string{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	}
}

// foreign is a node of others.
func foreign(path, id string, position int, age time.Duration) inspect.Participant {
	return inspect.Participant{
		Path: path, Position: position, Czxid: int64(0x100000010 + position), Session: 0x1000a2b3c4d0009, Since: ago(age), ID: id,
	}
}

func reader(p inspect.Participant) inspect.Participant { p.Reader = true; return p }
func revoked(p inspect.Participant) inspect.Participant {
	p.ID, p.Service, p.Host, p.PID, p.Trace, p.Revoked = "unknown", "", "", 0, nil, true
	return p
}
func unsure(p inspect.Participant) inspect.Participant     { p.Unsure = true; return p }
func persistent(p inspect.Participant) inspect.Participant { p.Session = 0; return p }
func unreadable(path string) inspect.Participant {
	return inspect.Participant{Path: path, ID: "unknown", Unreadable: true, Position: 2}
}

func recipes() []inspect.Recipe {
	two := 2
	return []inspect.Recipe{
		{
			Path: "/jobs/bill", Kind: inspect.Mutex, Layout: "curator", MayBe: []inspect.Kind{"leader_selector"},
			Holders: []inspect.Participant{ours("/jobs/bill/"+guid+"lock-0000000001", 0, 3*time.Minute+10*time.Second)},
			Waiters: []inspect.Participant{
				ours("/jobs/bill/"+guid+"lock-0000000002", 1, 65*time.Second),
				foreign("/jobs/bill/"+guid+"lock-0000000003", "10.0.0.7", 2, 2*time.Second),
			},
		},
		{
			Path: "/rw", Kind: inspect.ReadWriteLock, Layout: "curator",
			Holders: []inspect.Participant{
				reader(revoked(ours("/rw/"+guid+"__READ__0000000001", 0, 26*time.Hour))),
				reader(ours("/rw/"+guid+"__READ__0000000002", 1, 25*time.Hour)),
			},
			Waiters: []inspect.Participant{
				ours("/rw/"+guid+"__WRIT__0000000003", 2, 10*time.Hour),
				reader(ours("/rw/"+guid+"__READ__0000000004", 3, 9*time.Hour)),
				reader(ours("/rw/"+guid+"__READ__0000000005", 4, 8*time.Hour)),
				ours("/rw/"+guid+"__WRIT__0000000006", 5, 7*time.Hour),
			},
		},
		{
			Path: "/gate", Kind: inspect.Semaphore, Layout: "curator", MayBe: []inspect.Kind{"semaphore_mutex"}, Limit: &two,
			Holders: []inspect.Participant{
				foreign("/gate/leases/"+guid+"lease-0000000001", "10.0.0.8", 0, time.Minute),
				unsure(foreign("/gate/leases/"+guid+"lease-0000000002", "10.0.0.9", 1, time.Minute)),
			},
			Waiters: []inspect.Participant{unreadable("/gate/locks/" + guid + "lock-0000000003")}, Unread: 7,
		},
		{
			Path: "/kazoo", Kind: inspect.Mutex, Layout: "kazoo", MayBe: []inspect.Kind{inspect.ReadWriteLock, "election"},
			Holders: []inspect.Participant{persistent(foreign("/kazoo/0af7651916cd43dd8448eb211c80319c__lock__0000000000", "unknown", 0, -time.Second))},
		},
		{
			Path: "/up", Kind: inspect.Registrations,
			Holders: []inspect.Participant{foreign("/up/web-1", `"a\nb"`, 0, time.Hour)},
		},
		{Path: "/mail\n", Kind: inspect.Queue, Layout: "curator", Items: 12, Since: ago(time.Hour)},
		{Path: "/secret", Kind: inspect.Unreadable, Reason: "zk: not authenticated"},
	}
}

var v = view.View{Now: now, Own: 0x1000a2b3c4d0002}

func TestTableOfLocks(t *testing.T) {
	requireGolden(t, "locks.table", tableOf(t, v.LockHeader(), func(row func([]columns.Cell)) {
		for _, r := range recipes() {
			row(v.LockRow(r))
		}
	}))
}

func TestTableOfParticipants(t *testing.T) {
	var out string
	for _, r := range recipes() {
		out += v.Title(r) + "\n"
		if rows := v.ParticipantRows(r); len(rows) > 0 {
			out += tableOf(t, v.ParticipantHeader(), func(row func([]columns.Cell)) {
				for _, cells := range rows {
					row(cells)
				}
			})
		}
		out += "\n"
	}
	requireGolden(t, "participants.table", out)
}

// Of a lock that was handed over in each look, nobody knows who holds it. It is not
// shown as one that nobody holds.
func TestLockOfWhichNobodyWasReadMayBeHeld(t *testing.T) {
	const held = 2
	r := inspect.Recipe{Path: "/busy", Kind: inspect.Mutex, Unread: 1}
	require.Equal(t, "/busy  mutex, may be held, 1 not read", v.Title(r))
	require.Equal(t, "?", v.LockRow(r)[held].Text)
	r.Kind = inspect.Semaphore
	require.Equal(t, "/busy  semaphore, may be held, limit not known, 1 not read", v.Title(r))
	require.Equal(t, "?/?", v.LockRow(r)[held].Text)
}

func TestJSONLines(t *testing.T) {
	var out string
	for _, r := range recipes() {
		out += jsonLine(t, v.Lock(r)) + jsonLine(t, v.WithParticipants(r))
	}
	requireGolden(t, "locks.json", out)
}

// deadlocked is a graph with a deadlock and another wait.
func deadlocked() inspect.Graph {
	a, b := ours("/x/"+guid+"lock-0000000001", 0, time.Hour), ours("/x/"+guid+"lock-0000000002", 1, time.Minute)
	onY, behind := b, a
	onY.Path, behind.Path = "/y/"+guid+"lock-0000000001", "/y/"+guid+"lock-0000000002"
	third := foreign("/y/"+guid+"lock-0000000003", "10.0.0.7", 2, time.Second)
	fourth := foreign("/y/"+guid+"lock-0000000004", `say "\n"`, 3, time.Second)
	return inspect.Graph{
		Waits: []inspect.Wait{
			{Path: "/x", Kind: inspect.Mutex, Waiters: []inspect.Participant{b}, Holders: []inspect.Participant{a}},
			{
				Path: "/y", Kind: inspect.Semaphore, Waiters: []inspect.Participant{behind, fourth},
				Holders: []inspect.Participant{onY, third}, Any: true,
			},
		},
		Deadlocks: []inspect.Deadlock{{
			Processes: []string{a.String(), b.String()}, Since: ago(time.Minute),
			Cycle: []inspect.Wait{
				{Path: "/y", Kind: inspect.Semaphore, Waiters: []inspect.Participant{behind}, Holders: []inspect.Participant{onY}},
				{Path: "/x", Kind: inspect.Mutex, Waiters: []inspect.Participant{b}, Holders: []inspect.Participant{a}},
			},
			Doubts: []string{"several_tasks", "may_lead", "limit_not_known"},
		}},
		Unreadable: []string{"/secret"},
	}
}

func TestGraph(t *testing.T) {
	g := deadlocked()
	var out string
	for _, d := range g.Deadlocks {
		out += strings.Join(v.DeadlockText(d), "\n") + "\n\n"
	}
	out += tableOf(t, v.WaitHeader(), func(row func([]columns.Cell)) {
		for _, w := range g.Waits {
			for _, r := range v.WaitRows(w) {
				row(r)
			}
		}
	})
	requireGolden(t, "graph.table", out)
	var lines string
	for _, line := range v.Graph(g) {
		lines += jsonLine(t, line)
	}
	requireGolden(t, "graph.json", lines)
}

// Names in JSON are the names of attributes, as the package's documentation says.
func TestNamesMatchAttributes(t *testing.T) {
	for attribute, field := range map[string]any{
		semconv.LockPath: view.Lock{}, semconv.LockRecipe: view.Lock{}, semconv.LockHolder: view.Lock{},
		semconv.LockHolderNode: view.Lock{}, semconv.LockHolderAge: view.Lock{}, semconv.LockWaited: view.Lock{},
		semconv.LockToken: view.Participant{}, semconv.LockPosition: view.Participant{}, semconv.LockMode: view.Participant{},
		semconv.LockNode: view.Participant{}, semconv.SessionID: view.Participant{},
	} {
		want := strings.TrimPrefix(strings.TrimPrefix(attribute, "curator.lock."), "curator.")
		want = strings.ReplaceAll(want, ".", "_")
		if attribute == semconv.LockHolderAge || attribute == semconv.LockWaited {
			want += "_seconds"
		}
		require.Contains(t, namesOf(reflect.TypeOf(field)), want)
	}
}

// The name of a duration says its unit, and no other name does.
func TestNamesOfDurationsHaveTheUnit(t *testing.T) {
	durations := 0
	for _, value := range []any{view.Lock{}, view.Participant{}, view.Event{}, view.Wait{}, view.Deadlock{}, view.Blocked{}} {
		typ := reflect.TypeOf(value)
		for i, name := range namesOf(typ) {
			isDuration := typ.Field(i).Type == reflect.TypeFor[*view.Seconds]()
			require.Equal(t, isDuration, strings.HasSuffix(name, "_seconds"), "%v: %s", typ, name)
			if isDuration {
				durations++
			}
		}
	}
	require.Equal(t, 4, durations)
}

func namesOf(typ reflect.Type) (names []string) {
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func TestDurationsForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 900 * time.Millisecond: "0s", 59 * time.Second: "59s", time.Minute: "1m0s",
		59*time.Minute + 59*time.Second: "59m59s", time.Hour + time.Minute: "1h1m", 49 * time.Hour: "2d1h",
	} {
		require.Equal(t, want, view.Duration(d))
	}
}

func tableOf(t *testing.T, header []string, add func(row func([]columns.Cell))) string {
	t.Helper()
	var out bytes.Buffer
	w := columns.New(&out, false)
	require.NoError(t, w.Header(header...))
	add(func(cells []columns.Cell) {
		require.Len(t, cells, len(header))
		require.NoError(t, w.Row(cells...))
	})
	require.NoError(t, w.Flush())
	return out.String()
}

func jsonLine(t *testing.T, value any) string {
	t.Helper()
	line, err := json.Marshal(value)
	require.NoError(t, err)
	return string(line) + "\n"
}

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, name)
}
