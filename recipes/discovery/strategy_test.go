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
	p.Update(entries(instances))
	return p
}

// entries returns what a directory has of instances.
func entries(list []discovery.Instance) []*discovery.Entry {
	all := make([]*discovery.Entry, len(list))
	for at, i := range list {
		all[at] = &discovery.Entry{Instance: i}
	}
	return all
}

// pick returns the ID of an instance that does its work well.
func pick(t *testing.T, p *discovery.Picker) string {
	t.Helper()
	i, request, err := p.Pick()
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
		"round robin": discovery.RoundRobin(), "random": discovery.Random(), "sticky": discovery.Sticky(discovery.Random()),
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
		p.Update(entries(list))
		requireNobody(t, p, "no instance to pick: all 2 are disabled")
		list[1].Disabled = false
		p.Update(entries(list))
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
		p.Update(entries(list))
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
	p.Update(entries(list))
	seen := map[string]bool{}
	for range 20 {
		seen[pick(t, p)] = true
	}
	require.Len(t, seen, 1)
	list[at].Disabled = true
	p.Update(entries(list))
	require.NotEqual(t, held, pick(t, p))
}

func TestPickerArgumentsThatCannotBeUsed(t *testing.T) {
	none := discovery.Strategy{}
	for _, s := range []discovery.Strategy{none, discovery.Sticky(none)} {
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
