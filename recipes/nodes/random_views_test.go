package nodes_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/nodes"
)

// observe reads the views of the group, and checks that each of them is the one
// before with its differences.
func (r *registry) observe(over <-chan struct{}) {
	c, err := framework.New(r.srv.Addr(), framework.WithDialer(r.srv.Dialer()), framework.WithSessionTimeout(registrySession))
	if err != nil {
		r.Error(err)
		return
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-over
		cancel()
	}()
	now := map[string]nodes.Member{}
	for view, err := range nodes.NewGroup(c, "/r").Changes(ctx) {
		if err != nil {
			r.Error(err)
			return
		}
		for _, m := range view.Left {
			delete(now, m.ID)
		}
		for _, m := range append(view.Joined, view.Updated...) {
			now[m.ID] = m
		}
		r.mu.Lock()
		r.view = view.Members
		r.views++
		r.mu.Unlock()
		byID := func(a, b nodes.Member) int { return strings.Compare(a.ID, b.ID) }
		want := slices.SortedFunc(maps.Values(now), byID)
		if len(want)+len(view.Members) > 0 && !reflect.DeepEqual(want, view.Members) {
			r.Errorf("view %v does not follow from its differences: %v", view.Members, want)
		}
	}
}

// checkView compares the last view with the server. The owners go on setting
// data, so it waits for a quiet moment.
func (r *registry) checkView() {
	for range 100 {
		synctest.Wait()
		r.mu.Lock()
		last, views := r.view, r.views
		r.mu.Unlock()
		var seen, there []string
		for _, m := range last {
			seen = append(seen, fmt.Sprint(m.Path, m.Czxid, string(m.Payload)))
		}
		for _, n := range r.all() {
			there = append(there, fmt.Sprint(n.Path, n.Stat.Czxid, string(n.Data)))
		}
		if slices.Equal(seen, there) && views > owners {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	r.Errorf("the observer sees %v:\n%s", r.view, r.srv.Dump())
}
