package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/recipes/discovery"
)

const (
	lima, oslo, paris, rome = "lima", "oslo", "paris", "rome"
	some                    = 20 // the calls that each instance makes between two tables
)

// story is the parent process, which asks the instances for reports.
type story struct {
	demo.Stage
	processes map[string]*demo.Process
	names     []string                    // the names of living instances
	at        map[string]*discovery.Entry // the first entries, by name
}

func runStory(ctx context.Context, stage demo.Stage) error {
	s := &story{Stage: stage, names: []string{lima, oslo, paris, rome}, at: map[string]*discovery.Entry{}}
	all, err := discovery.NewDirectory(s.Client, base, codec, shop)
	if err != nil {
		return err
	}
	defer all.Close()
	processes, stop, err := stage.Start(s.names...)
	if err != nil {
		return err
	}
	defer stop()
	s.processes = processes
	if err := all.WaitInstances(ctx, len(s.names)); err != nil {
		return err
	}
	for _, e := range all.Snapshot().Entries {
		s.at[e.ID] = e
	}
	for _, act := range []func(context.Context) error{s.begin, s.drain, s.leave, s.cutAndKill, s.mend} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	now := all.Snapshot().Of(shop) // paris may still be in it: each directory has its own removal grace
	at := slices.IndexFunc(now, func(e *discovery.Entry) bool { return e.ID == oslo })
	if at < 0 || now[at].Since != s.at[oslo].Since {
		return fmt.Errorf("the node of %s is another one", oslo)
	}
	fmt.Fprintln(s.Out, "No call has failed, and the node of oslo was there all the time.")
	return nil
}

func (s *story) begin(ctx context.Context) error {
	return s.await(ctx, "Four instances have found each other.", func(all map[string]report) bool {
		return s.haveCalled(nil, all) && s.seeEachOther(all)
	})
}

// drain makes rome drain. Other instances stop calling rome when they learn of that.
func (s *story) drain(ctx context.Context) error {
	before, err := s.tell(ctx, rome, "drain")
	if err != nil {
		return err
	}
	served, now := before[rome].Served, int64(0)
	err = s.await(ctx, "rome drains. It makes calls, and gets none.", func(all map[string]report) bool {
		now = all[rome].Served
		return s.haveCalled(before, all)
	})
	if err == nil && now != served {
		err = fmt.Errorf("%d calls went to %s, which drains", now-served, rome)
	}
	if err != nil {
		return err
	}
	before, err = s.tell(ctx, rome, "resume")
	if err != nil {
		return err
	}
	return s.await(ctx, "rome is back.", func(all map[string]report) bool {
		return s.haveCalled(before, all) && all[rome].Served > served
	})
}

// leave asks lima to end: lima drains, deregisters, and ends, in this order.
func (s *story) leave(ctx context.Context) error {
	before, err := s.reports(ctx, 0)
	if err != nil {
		return err
	}
	s.processes[lima].Stop()
	s.names = []string{oslo, paris, rome}
	return s.await(ctx, "lima has left. It has drained before.", func(all map[string]report) bool {
		return s.haveCalled(before, all) && s.seeEachOther(all)
	})
}

// cutAndKill kills paris while oslo cannot learn of the death.
func (s *story) cutAndKill(ctx context.Context) error {
	before, err := s.tell(ctx, oslo, "cut")
	if err != nil {
		return err
	}
	s.processes[paris].Kill()
	s.names = []string{oslo, rome}
	return s.await(ctx, "oslo is cut off from ZooKeeper. paris is killed, which no other process knows yet.", func(all map[string]report) bool {
		return s.haveCalled(before, all) && all[oslo].Interrupted && all[oslo].Retried > 0 && all[rome].Retried > 0
	})
}

// mend ends the cut. When the session of paris has timed out, no instance sees paris.
func (s *story) mend(ctx context.Context) error {
	before, err := s.tell(ctx, oslo, "plug")
	if err != nil {
		return err
	}
	return s.await(ctx, "oslo is back. The session of paris has timed out.", func(all map[string]report) bool {
		return s.haveCalled(before, all) && slices.Equal(all[oslo].Sees, []string{rome}) && slices.Equal(all[rome].Sees, []string{oslo})
	})
}

// haveCalled reports whether each instance has made enough calls since an earlier
// report.
func (s *story) haveCalled(before, now map[string]report) bool {
	return !slices.ContainsFunc(s.names, func(name string) bool { return now[name].Calls < before[name].Calls+some })
}

// seeEachOther reports whether each instance knows exactly the other living
// instances.
func (s *story) seeEachOther(now map[string]report) bool {
	return !slices.ContainsFunc(s.names, func(name string) bool { return len(now[name].Sees) != len(s.names)-1 })
}

// await asks all instances for reports until a condition is true, and shows the last
// reports.
func (s *story) await(ctx context.Context, title string, wish func(map[string]report) bool) error {
	for {
		all, err := s.reports(ctx, 0)
		if err != nil {
			return err
		}
		for _, name := range s.names {
			if all[name].Failed > 0 {
				return fmt.Errorf("%d calls of %s have failed", all[name].Failed, name)
			}
		}
		if wish(all) {
			return s.show(title, all)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// show prints the table of what each instance sees.
func (s *story) show(title string, all map[string]report) error {
	fmt.Fprintf(s.Out, "%s\n\n", title)
	table := tabwriter.NewWriter(s.Out, 0, 0, 3, ' ', 0)
	fmt.Fprint(table, "  INSTANCE\tZOOKEEPER\tSEES\tCALLS\tFAILED\tRETRIED\tSERVED\n")
	for _, name := range s.names {
		r, zookeeper := all[name], "connected"
		if r.Interrupted {
			zookeeper = "cut off"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%d\t%d\t%d\t%d\n",
			name, zookeeper, strings.Join(r.Sees, ", "), r.Calls, r.Failed, r.Retried, r.Served)
	}
	table.Flush()
	_, err := fmt.Fprintln(s.Out)
	return err
}

// tell sends a command to an instance, and returns the next reports of all instances.
func (s *story) tell(ctx context.Context, name, what string) (map[string]report, error) {
	var zxid int64
	if err := s.ask(ctx, http.MethodPost, name, what, &zxid); err != nil {
		return nil, err
	}
	if what == "drain" || what == "resume" {
		if all, err := s.reports(ctx, zxid); err != nil {
			return all, err
		}
	}
	return s.reports(ctx, 0)
}

// reports asks all instances for their reports as of a transaction or later.
func (s *story) reports(ctx context.Context, zxid int64) (map[string]report, error) {
	all := map[string]report{}
	for _, name := range s.names {
		var r report
		if err := s.ask(ctx, http.MethodGet, name, "report?zxid="+strconv.FormatInt(zxid, 10), &r); err != nil {
			return nil, err
		}
		all[name] = r
	}
	return all, nil
}

// ask makes a request to an instance, and reads the answer.
func (s *story) ask(ctx context.Context, method, name, what string, answer any) error {
	e := s.at[name]
	request, err := http.NewRequestWithContext(ctx, method, "http://"+e.HostPort()+"/"+what, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s, %s: %s", name, what, said)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
