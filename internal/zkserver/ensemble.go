package zkserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Ensemble is a number of ZooKeeper servers that replicate one tree.
type Ensemble struct {
	servers []*Server // sorted by their ids, which begin with 1
	links   *links    // nil without WithLinks
}

// Members returns all servers of the ensemble, running or not, in the order of
// their ids, which begin with 1.
func (e *Ensemble) Members() []*Server { return slices.Clone(e.servers) }

// ConnectString returns the addresses of all servers in the order of their ids,
// separated by commas, as clients expect it.
func (e *Ensemble) ConnectString() string {
	addrs := make([]string, len(e.servers))
	for i, s := range e.servers {
		addrs[i] = s.Addr()
	}
	return strings.Join(addrs, ",")
}

// WaitLeader waits until the ensemble has a leader, or ctx ends, and returns
// that server. It has one when exactly one server leads and a majority,
// including the leader, serves. The leader may change right after WaitLeader
// returns.
func (e *Ensemble) WaitLeader(ctx context.Context) (*Server, error) {
	var leader *Server
	err := poll(ctx, nil, func(ctx context.Context) (err error) {
		leader, err = electedLeader(e.servers, e.modes(ctx))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("zkserver: leader: %w", err)
	}
	return leader, nil
}

// Restart restarts all servers, running or not, and waits until they serve.
func (e *Ensemble) Restart() error {
	return each(e.servers, (*Server).Restart)
}

// Close closes all servers. It may be called more than once.
func (e *Ensemble) Close() error {
	err := each(e.servers, (*Server).Close)
	if e.links != nil {
		e.links.close()
	}
	return err
}

// modes returns the mode of each server, which is empty for a server that does
// not serve. It asks all servers at once, since a paused one takes until ctx
// ends.
func (e *Ensemble) modes(ctx context.Context) []string {
	modes := make([]string, len(e.servers))
	var wg sync.WaitGroup
	for i, s := range e.servers {
		// A server that does not answer has no mode.
		wg.Go(func() { modes[i], _ = s.Mode(ctx) })
	}
	wg.Wait()
	return modes
}

// electedLeader returns the one leader among servers. The modes are in the same
// order as the servers.
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
