package zkserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Ensemble is a number of ZooKeeper servers that replicate one tree.
type Ensemble struct {
	Servers []*Server // all of them, running or not, in the order of their server ids from 1 up; not to be changed

	links *links // nil without WithLinks
}

// ConnectString returns the addresses of all servers in the form that clients take, separated by commas.
func (e *Ensemble) ConnectString() string {
	addrs := make([]string, len(e.Servers))
	for i, s := range e.Servers {
		addrs[i] = s.Addr()
	}
	return strings.Join(addrs, ",")
}

// Leader waits until the ensemble has settled on a leader, or ctx ends, and returns it: exactly one server leads, and
// a majority, with it, serves. The answer describes the moment; a leader may lose its place right after.
func (e *Ensemble) Leader(ctx context.Context) (*Server, error) {
	var leader *Server
	err := poll(ctx, nil, func(ctx context.Context) (err error) {
		leader, err = electedLeader(e.Servers, e.modes(ctx))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("zkserver: leader: %w", err)
	}
	return leader, nil
}

// Restart restarts all servers, running or not, and waits until they serve.
func (e *Ensemble) Restart() error {
	return each(e.Servers, (*Server).Restart)
}

// Close closes all servers. Close may be called more than once.
func (e *Ensemble) Close() error {
	err := each(e.Servers, (*Server).Close)
	if e.links != nil {
		e.links.close()
	}
	return err
}

// modes returns the mode of each server, empty for one that does not serve. Servers are asked all at once: a paused one
// takes as long as ctx allows.
func (e *Ensemble) modes(ctx context.Context) []string {
	modes := make([]string, len(e.Servers))
	var wg sync.WaitGroup
	for i, s := range e.Servers {
		wg.Go(func() { modes[i], _ = s.Mode(ctx) }) // not to answer is an answer
	}
	wg.Wait()
	return modes
}

// settled returns the one leader among servers, whose modes are given in the same order.
func electedLeader(servers []*Server, modes []string) (*Server, error) {
	var leader *Server
	serving := 0
	for i, mode := range modes {
		switch mode {
		case "follower":
			serving++
		case "leader":
			serving++
			if leader != nil {
				return nil, errors.New("two servers lead")
			}
			leader = servers[i]
		}
	}
	if leader == nil {
		return nil, errors.New("no server leads")
	}
	if serving <= len(servers)/2 {
		return nil, fmt.Errorf("%d of %d servers serve: no majority", serving, len(servers))
	}
	return leader, nil
}
