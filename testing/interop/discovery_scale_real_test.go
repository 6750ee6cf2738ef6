//go:build real

package interop_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/discovery"
)

// fleet is services with the names s0, s1 and so on, each with as many instances.
type fleet struct {
	services, each int
	base           string
}

// create makes the nodes of the fleet, which stay.
func (f fleet) create(t *testing.T, c *framework.Client) {
	t.Helper()
	for s := range f.services {
		service := fmt.Sprint("s", s)
		ops := []framework.TxnOp{framework.CreateOp(f.base+"/"+service, nil)}
		if s == 0 {
			ops = append([]framework.TxnOp{framework.CreateOp(f.base, nil)}, ops...)
		}
		for i := range f.each {
			ops = append(ops, framework.CreateOp(f.path(s, i), f.data(t, s, i, "one")))
		}
		_, err := c.Transaction(withDeadline(t), ops...)
		require.NoError(t, err)
	}
}

func (f fleet) path(service, i int) string { return fmt.Sprintf("%s/s%d/i%d", f.base, service, i) }

func (f fleet) data(t *testing.T, service, i int, address string) []byte {
	t.Helper()
	_, data, err := discovery.CuratorCodec().Encode(discovery.Instance{
		Service: fmt.Sprint("s", service), ID: fmt.Sprint("i", i), Address: address, Port: 8080,
	})
	require.NoError(t, err)
	return data
}

// listCost is what a full list of a fleet has taken. The memory is what is in use
// after a collection of garbage.
type listCost struct {
	took     time.Duration
	bytes    int
	requests int
}

func (c listCost) String() string {
	return fmt.Sprintf("%v, %d KiB, %d requests", c.took.Round(time.Millisecond), c.bytes>>10, c.requests)
}

// Our directory of all services, our directories of each, and Java's ServiceCaches
// of each list the same fleet on a real server, and hear of each change once. What
// that takes is in the log. In a full run, the fleet
// has 100 services of 100 instances, and Java has a process of its own.
func TestDirectoriesOfManyServices(t *testing.T) {
	javaCurator.get(t)
	f := fleet{services: thorough.Size(100, 10), each: thorough.Size(100, 10), base: lockPath(t)}
	total := f.services * f.each
	srv := &testServer{addr: sharedServer(t).Addr()}
	start := startPeer
	if thorough.Full() {
		// Others would be in the way, and this server deletes no containers.
		srv.addr = zkserver.Start(t, zkserver.WithJVMFlags("-XX:TieredStopAtLevel=4")).Addr()
		start = func(t testing.TB, addr string, session time.Duration) *peer {
			return startProcessWith(t, nil, addr, session)
		}
	} else {
		t.Parallel()
	}
	writer := srv.connect(t, longSession)
	f.create(t, writer)
	meter, eachMeter, javaMeter := startMeter(t, srv.addr), startMeter(t, srv.addr), startMeter(t, srv.addr)
	ours := (&testServer{addr: meter.addr()}).connect(t, longSession)
	other := (&testServer{addr: eachMeter.addr()}).connect(t, longSession)

	var services *discovery.Directory
	one := measure(t, meter, func() {
		var err error
		services, err = discovery.NewServices(ours, f.base, discovery.CuratorCodec())
		require.NoError(t, err)
		require.NoError(t, services.WaitInstances(withDeadline(t), total))
	})
	defer services.Close()
	var each []*discovery.Directory
	many := measure(t, eachMeter, func() {
		for s := range f.services {
			d, err := discovery.NewDirectory(other, f.base, discovery.CuratorCodec(), fmt.Sprint("s", s))
			require.NoError(t, err)
			each = append(each, d)
			require.NoError(t, d.WaitInstances(withDeadline(t), f.each))
		}
	})
	java := start(t, javaMeter.addr(), longSession)
	java.must(t, "discovery-open", "fleet", f.base, "void", "compatible")
	var javas listCost
	javas.requests = measure(t, javaMeter, func() {
		words := java.must(t, "discovery-fill", "fleet", f.services)
		require.Equal(t, strconv.Itoa(total), words[1])
		javas.took, javas.bytes = duration(t, words[0]), number(t, words[2])
	}).requests
	t.Logf("the first list of %d instances of %d services:\nour directory of all services: %v\nour directories of each:       %v\nJava's caches of each:         %v",
		total, f.services, one, many, javas)

	// A change is one update, and one read.
	changes := readChanges(t, services)
	for range total {
		_, _, more := changes()
		require.True(t, more)
	}
	requireChanges(t, changes, "synced")
	for _, d := range each {
		d.Close()
	}
	rounds := thorough.Size(100, 20)
	before, events := number(t, java.must(t, "discovery-events", waitLimitMs, 0)[0]), 0
	requests := measure(t, meter, func() {
		for i := range rounds {
			_, err := writer.Set(withDeadline(t), f.path(i%f.services, i%f.each), f.data(t, i%f.services, i%f.each, fmt.Sprint("at", i)), framework.AnyVersion)
			require.NoError(t, err)
			requireChanges(t, changes, fmt.Sprintf("updated i%d", i%f.each))
			// Two changes of a node that Java reads after the second are one event.
			events = number(t, java.must(t, "discovery-events", waitLimitMs, before+i+1)[0]) - before
		}
	}).requests
	t.Logf("%d changes: %d requests of ours, %d events of Java's", rounds, requests, events)
	require.LessOrEqual(t, requests, rounds)
	require.Equal(t, rounds, events)

	f.restart(t, writer, services)
}

// restart deletes and creates nodes thousands of times, as instances that restart,
// and requires that the directory does not grow by that.
func (f fleet) restart(t *testing.T, c *framework.Client, d *discovery.Directory) {
	t.Helper()
	restarts := thorough.Size(1000, 30)
	var inUse []int
	begin := time.Now()
	for round := range 3 {
		ctx, path := withDeadline(t), ""
		for i := range restarts {
			path = f.path(i%f.services, i%f.each)
			_, err := c.Transaction(ctx, framework.DeleteOp(path, framework.AnyVersion),
				framework.CreateOp(path, f.data(t, i%f.services, i%f.each, fmt.Sprint("round", round, "-", i))))
			require.NoError(t, err)
		}
		_, stat, err := c.Exists(ctx, path)
		require.NoError(t, err)
		require.NoError(t, d.WaitFor(ctx, stat.Czxid))
		require.Len(t, d.Instances(), f.services*f.each)
		inUse = append(inUse, memoryInUse()>>10)
	}
	t.Logf("%d restarts took %v; KiB in use after each third of them: %v", 3*restarts, time.Since(begin).Round(time.Millisecond), inUse)
	if thorough.Full() { // else others run beside this
		require.Less(t, inUse[2], inUse[0]+inUse[0]/10+1024)
	}
}

// measure returns what a list has taken on our side of a meter.
func measure(t *testing.T, m *meter, list func()) (c listCost) {
	t.Helper()
	before := memoryInUse()
	requests, _ := m.counted()
	begin := time.Now()
	list()
	c.took = time.Since(begin)
	c.bytes = memoryInUse() - before
	after, _ := m.counted()
	c.requests = after - requests
	return c
}

func number(t *testing.T, word string) int {
	t.Helper()
	n, err := strconv.Atoi(word)
	require.NoError(t, err)
	return n
}

func duration(t *testing.T, nanoseconds string) time.Duration {
	t.Helper()
	return time.Duration(number(t, nanoseconds))
}
