package framework

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/gocurator/curator/internal/random"
)

// ResolveDNS returns a function for WithServers that looks up all addresses of all names,
// each with an optional port. It suits names that stand for many servers, and servers
// whose addresses change after a restart, as behind a headless service of Kubernetes:
//
//	framework.New("zk-headless:2181/shop", framework.WithServers(framework.ResolveDNS("zk-headless:2181")))
//
// Names that cannot be resolved are ignored. If no name can be resolved, the error
// lists all names.
func ResolveDNS(names ...string) func(ctx context.Context) ([]string, error) {
	return resolve(net.DefaultResolver.LookupHost, names)
}

// lookup returns the addresses of a host, like (*net.Resolver).LookupHost.
type lookup func(ctx context.Context, host string) ([]string, error)

func resolve(look lookup, names []string) serversFunc {
	names = slices.Clone(names)
	return func(ctx context.Context) ([]string, error) {
		servers, err := parseServers(names)
		if err != nil {
			return nil, err
		}
		addresses := make([][]string, len(servers))
		failures := make([]error, len(servers))
		var lookups sync.WaitGroup // concurrent, so that a hanging lookup does not delay the others
		for i, server := range servers {
			lookups.Go(func() { addresses[i], failures[i] = resolveServer(ctx, look, server) })
		}
		lookups.Wait()
		if all := slices.Concat(addresses...); len(all) > 0 {
			return all, nil
		}
		return nil, errors.Join(failures...)
	}
}

func resolveServer(ctx context.Context, look lookup, server string) ([]string, error) {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return nil, err
	}
	ips, err := look(ctx, host)
	if err == nil && len(ips) == 0 {
		err = errors.New("lookup " + host + ": no addresses")
	}
	var addresses []string
	for _, ip := range ips {
		addresses = append(addresses, net.JoinHostPort(ip, port))
	}
	return addresses, err
}

// serverList is the client's list of servers, shared by all sessions.
type serverList struct {
	ask serversFunc // nil for a list that does not change

	mu       sync.Mutex // protects the following fields
	list     []string   // sorted, each server once; never changed in place
	askError error      // why the last call of ask failed, or nil
}

func newServerList(addresses []string, ask serversFunc) *serverList {
	return &serverList{ask: ask, list: unique(addresses)}
}

// servers returns the last known list in random order, so that clients spread over the
// ensemble.
func (l *serverList) servers() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.list)
	random.Shuffle(list)
	return list
}

// problem returns the reason why the list may be out of date, or nil.
func (l *serverList) problem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.askError
}

// refresh asks for the list. If that fails, the known list stays, and refresh returns the
// error.
func (l *serverList) refresh(ctx context.Context) error {
	if l.ask == nil {
		return nil
	}
	list, err := l.ask(ctx)
	if err == nil {
		list, err = parseServers(list)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.askError = err
	if err == nil {
		l.list = unique(list)
	}
	return err
}

// parseServers checks a list of servers and gives each of them a port.
func parseServers(list []string) ([]string, error) {
	if len(list) == 0 {
		return nil, badArgument("list of servers", "", "must not be empty")
	}
	servers := make([]string, len(list))
	for i, s := range list {
		server, err := parseServer(strings.TrimSpace(s))
		if err != nil {
			return nil, badArgument("server", s, err.Error())
		}
		servers[i] = server
	}
	return servers, nil
}

func unique(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
