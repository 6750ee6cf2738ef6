// Config is a service whose settings live in ZooKeeper. People and scripts
// change them while it runs, and some do it wrong.
//
//	go run ./examples/config
//
// A shared.Value follows the node of the settings. A codec validates them when
// they are written, and when they are read. Whatever others write, the service
// keeps the last good settings, and its log says who changed what. The parts to
// copy are settings.go and service.go.
//
// The exit status is 0 if the service had the right settings after each step, 1
// if not or if something failed, and 2 for wrong arguments.
package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/shared"
)

const node = "/settings"

func main() { demo.Main("config", runStory) }

// runStory runs a service while people and scripts change its settings.
func runStory(ctx context.Context, stage demo.Stage) error {
	value, err := shared.NewValue(stage.Client, node, validated(), defaults)
	if err != nil {
		return err
	}
	defer value.Close()
	svc := &service{node: value, log: demo.Log(stage.Out)}
	svc.current.Store(&defaults)
	ctx, stop := context.WithCancelCause(ctx)
	used := make(chan settings, 10) // more than there are steps
	var following sync.WaitGroup
	defer following.Wait()
	defer stop(nil)
	start := func() error {
		following.Go(func() { stop(svc.follow(ctx, func(now settings) { used <- now })) })
		return nil
	}
	return tell(ctx, stage, svc, start, used)
}

// tell checks after each step which settings the service uses.
func tell(ctx context.Context, stage demo.Stage, svc *service, start func() error, used <-chan settings) error {
	change := func(by string, edit func(*settings)) func() error {
		return func() error { return svc.change(ctx, by, edit) }
	}
	// write shows what everybody can do who reaches the servers.
	write := func(text string) func() error {
		return func() error {
			_, err := stage.Client.Set(ctx, node, []byte(text), framework.AnyVersion)
			return err
		}
	}
	alices, bobs := settings{8, 0, "alice"}, settings{8, 20, "bob"}
	for _, step := range []struct {
		title string
		do    func() error
		want  settings
	}{
		{"The service starts.", start, defaults},
		{"Alice wants 8 workers.", change("alice", func(s *settings) { s.Workers = 8 }), alices},
		{"A script writes no workers.", write(`{"workers":0,"changed_by":"nightly.sh"}`), alices},
		{"An editor saves half a file.", write(`{"workers":16,`), alices},
		{"Bob wants a discount of 500 %.", change("bob", func(s *settings) { s.Discount = 500 }), alices},
		{"Somebody deletes the node.", func() error { return stage.Client.Delete(ctx, node, framework.AnyVersion) }, alices},
		{"Bob wants a discount of 20 %.", change("bob", func(s *settings) { s.Discount = 20 }), bobs},
	} {
		fmt.Fprintln(stage.Out, step.title)
		if err := step.do(); errors.Is(err, errInvalid) {
			fmt.Fprintln(stage.Out, "It is refused:", err)
			continue // the node has not changed
		} else if err != nil {
			return err
		}
		select {
		case got := <-used:
			if got != step.want {
				return fmt.Errorf("the service uses %v, and should use %v", got, step.want)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
