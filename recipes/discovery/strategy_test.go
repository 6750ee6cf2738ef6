package discovery_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// some returns n instances with the IDs 0, 1 and so on.
func some(n int) []discovery.Instance {
	list := make([]discovery.Instance, n)
	for i := range list {
		list[i] = discovery.Instance{Service: "orders", ID: fmt.Sprint(i), Address: "10.0.0.7", Port: 8000 + i}
	}
	return list
}

func newPicker(t *testing.T, s discovery.Strategy, instances []discovery.Instance, opts ...discovery.PickerOption) *discovery.Picker {
	t.Helper()
	p, err := discovery.NewPicker(s, opts...)
	require.NoError(t, err)
	p.Update(instances)
	return p
}

// pick returns the ID of an instance that does its work well.
func pick(t *testing.T, p *discovery.Picker) string { return pickFor(t, p, "") }

func pickFor(t *testing.T, p *discovery.Picker, key string) string {
	t.Helper()
	i, request, err := p.PickFor(key)
	require.NoError(t, err)
	request.Done(nil)
	return i.ID
}

// counted returns how often each of n picks returned which instance.
func counted(t *testing.T, p *discovery.Picker, n int) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for range n {
		counts[pick(t, p)]++
	}
	return counts
}

func every() map[string]discovery.Strategy {
	return map[string]discovery.Strategy{
		"round robin": discovery.RoundRobin(), "random": discovery.Random(), "power of two": discovery.PowerOfTwo(),
		"sticky": discovery.Sticky(discovery.Random()), "rendezvous": discovery.Rendezvous(),
		"zone": discovery.ZoneFirst("zone", "a", discovery.RoundRobin()),
	}
}

func TestNobodyToPick(t *testing.T) {
	for name, s := range every() {
		p, err := discovery.NewPicker(s)
		require.NoError(t, err)
		requireNobody(t, p, "no instance to pick")
		p.Update(nil)
		requireNobody(t, p, "no instance to pick")
		list := some(2)
		list[0].Disabled, list[1].Disabled = true, true
		p.Update(list)
		requireNobody(t, p, "no instance to pick: all 2 are disabled")
		list[1].Disabled = false
		p.Update(list)
		for range 10 {
			require.Equal(t, "1", pick(t, p), name)
		}
	}
}

func requireNobody(t *testing.T, p *discovery.Picker, text string) {
	t.Helper()
	i, request, err := p.Pick()
	require.ErrorIs(t, err, discovery.ErrNoInstance)
	require.EqualError(t, err, text)
	require.Zero(t, i)
	request.Done(nil)
	request.Done(errors.New("failed"))
}

func TestRoundRobinIsFair(t *testing.T) {
	p := newPicker(t, discovery.RoundRobin(), some(5))
	require.Equal(t, map[string]int{"0": 20, "1": 20, "2": 20, "3": 20, "4": 20}, counted(t, p, 100))
}

// Processes that start together must not all begin with the same instance.
func TestRoundRobinBeginsAnywhere(t *testing.T) {
	first := map[string]int{}
	for range 200 {
		first[pick(t, newPicker(t, discovery.RoundRobin(), some(3)))]++
	}
	require.Len(t, first, 3)
}

func TestRandomPicksAll(t *testing.T) {
	counts := counted(t, newPicker(t, discovery.Random(), some(4)), 4000)
	for id := range 4 {
		require.InDelta(t, 1000, counts[fmt.Sprint(id)], 300)
	}
}

// The busier of two is not picked.
func TestPowerOfTwoPicksTheLessBusy(t *testing.T) {
	p := newPicker(t, discovery.PowerOfTwo(), some(2))
	first, request, err := p.Pick()
	require.NoError(t, err)
	for range 50 {
		require.NotEqual(t, first.ID, pick(t, p))
	}
	request.Done(nil)
	require.Len(t, counted(t, p, 200), 2)
}

// Requests that are under way spread evenly, and a slow instance gets few more.
func TestPowerOfTwoSpreads(t *testing.T) {
	const n, each = 10, 100
	p := newPicker(t, discovery.PowerOfTwo(), some(n))
	counts := map[string]int{}
	for range n * each {
		i, _, err := p.Pick()
		require.NoError(t, err)
		counts[i.ID]++
	}
	for id, count := range counts {
		require.InDelta(t, each, count, 10, id)
	}
}

// Java's strategy changes when anything of the instance changes.
func TestStickyStaysByIDAndAddress(t *testing.T) {
	list := some(5)
	p := newPicker(t, discovery.Sticky(discovery.Random()), list)
	held := pick(t, p)
	for range 50 {
		require.Equal(t, held, pick(t, p))
	}
	for n := range 20 { // a random pick would not be the same each time
		zone := strconv.Itoa(n)
		slices.Reverse(list)
		for i := range list {
			list[i].Registered, list[i].Metadata = registered, map[string]string{"zone": zone}
		}
		p.Update(list)
		i, _, err := p.Pick()
		require.NoError(t, err)
		require.Equal(t, held, i.ID)
		require.Equal(t, zone, i.Metadata["zone"], "the new instance, and not the old one")
	}
}

func TestStickyTakesTheNextWhenItsInstanceHasGone(t *testing.T) {
	list := some(3)
	p := newPicker(t, discovery.Sticky(discovery.RoundRobin()), list)
	held := pick(t, p)
	at := int(held[0] - '0')
	list[at].Address = "10.0.0.8" // another process, with the same ID
	p.Update(list)
	seen := map[string]bool{}
	for range 20 {
		seen[pick(t, p)] = true
	}
	require.Len(t, seen, 1)
	list[at].Disabled = true
	p.Update(list)
	require.NotEqual(t, held, pick(t, p))
}

// All processes agree on the instance of a key, and few keys move.
func TestRendezvousMovesFewKeys(t *testing.T) {
	const keys = 1000
	of := func(list []discovery.Instance) (ids [keys]string) {
		p := newPicker(t, discovery.Rendezvous(), list)
		for key := range keys {
			ids[key] = pickFor(t, p, fmt.Sprint("user-", key))
		}
		return ids
	}
	list := some(10)
	all, counts := of(list), map[string]int{}
	reversed := slices.Clone(list)
	slices.Reverse(reversed)
	require.Equal(t, all, of(reversed))
	without := of(list[1:])
	for key, id := range all {
		counts[id]++
		if id != "0" {
			require.Equal(t, id, without[key])
		}
	}
	for id, count := range counts {
		require.InDelta(t, keys/10, count, 50, id)
	}
	require.Equal(t, []string{"6", "4", "9", "8", "3"}, all[:5], "another release agrees with this one")
}

func zoned(n, near int) []discovery.Instance {
	list := some(n)
	for i := range near {
		list[i].Metadata = map[string]string{"zone": "a"}
	}
	return list
}

func TestZoneFirst(t *testing.T) {
	p := newPicker(t, discovery.ZoneFirst("zone", "a", discovery.RoundRobin()), zoned(6, 2))
	require.Equal(t, map[string]int{"0": 50, "1": 50}, counted(t, p, 100))
	p.Update(zoned(6, 0))
	require.Len(t, counted(t, p, 100), 6)
	list := zoned(6, 2)
	list[0].Disabled, list[1].Disabled = true, true
	p.Update(list)
	require.Len(t, counted(t, p, 100), 4)
}

// When more than half of the zone is out, the rest of it would get too much.
func TestZoneSpillsOver(t *testing.T) {
	p := newPicker(t, discovery.ZoneFirst("zone", "a", discovery.RoundRobin()), zoned(8, 4))
	fail(t, p, "0")
	fail(t, p, "1")
	require.Len(t, counted(t, p, 100), 2)
	fail(t, p, "2")
	require.Len(t, counted(t, p, 100), 5)
}

func TestZoneSuffices(t *testing.T) {
	for _, c := range []struct {
		usable, all int
		want        bool
	}{{0, 0, false}, {0, 1, false}, {1, 1, true}, {1, 2, true}, {1, 3, false}, {2, 4, true}, {2, 5, false}} {
		require.Equal(t, c.want, discovery.ZoneSuffices(c.usable, c.all), c)
	}
}

func TestStrategiesCombine(t *testing.T) {
	p := newPicker(t, discovery.ZoneFirst("zone", "a", discovery.Sticky(discovery.Random())), zoned(6, 3))
	counts := counted(t, p, 50)
	require.Len(t, counts, 1)
	for id := range counts {
		require.Less(t, id, "3")
	}
	p = newPicker(t, discovery.Sticky(discovery.ZoneFirst("zone", "a", discovery.Random())), zoned(6, 3))
	require.Less(t, pick(t, p), "3")
}

func TestPickerArgumentsThatCannotBeUsed(t *testing.T) {
	none := discovery.Strategy{}
	for _, s := range []discovery.Strategy{none, discovery.Sticky(none), discovery.ZoneFirst("zone", "a", none)} {
		_, err := discovery.NewPicker(s)
		require.ErrorIs(t, err, zk.ErrBadArguments)
	}
	for _, opt := range []discovery.PickerOption{
		nil, discovery.WithFailures(nil), discovery.WithEjection(0, 1, 1), discovery.WithEjection(1, 0, 1), discovery.WithEjection(1, 2, 1),
	} {
		_, err := discovery.NewPicker(discovery.Random(), opt)
		require.ErrorIs(t, err, zk.ErrBadArguments)
	}
}

// The instances of a region come first, and of them those of a zone, also if these
// are few.
func TestZoneWithinAZone(t *testing.T) {
	list := some(10)
	for i := range list {
		list[i].Metadata = map[string]string{"region": "us", "zone": "a"}
	}
	for i := range 6 {
		list[i].Metadata = map[string]string{"region": "eu", "zone": "b"}
	}
	list[0].Metadata["zone"] = "a"
	p := newPicker(t, discovery.ZoneFirst("region", "eu", discovery.ZoneFirst("zone", "a", discovery.RoundRobin())), list)
	require.Equal(t, map[string]int{"0": 100}, counted(t, p, 100), "nobody in the other region")
	list[0].Disabled = true
	p.Update(list)
	require.Len(t, counted(t, p, 100), 5, "the region, without the zone")
}

// Instances of the zone that drain count among those that cannot be picked.
func TestZoneSpillsOverWhenItDrains(t *testing.T) {
	list := zoned(8, 4)
	for i := range 3 {
		list[i].Disabled = true
	}
	p := newPicker(t, discovery.ZoneFirst("zone", "a", discovery.RoundRobin()), list)
	require.Len(t, counted(t, p, 100), 5)
}
