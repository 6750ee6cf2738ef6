package zkserver

import (
	"errors"
	"os"
	"sync"
)

// startAttempts is how often a first start is tried, with new ports each time,
// if another program takes one of the ports.
const startAttempts = 3

// run starts an ensemble of n servers. If n is 0, it starts a standalone
// server, which is treated as an ensemble of one from then on. The function
// choose chooses their ports.
func run(opts []Option, n int, choose func(n int) ([]member, error)) (*Ensemble, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	d, err := Find()
	if err != nil {
		return nil, err
	}
	c.jvmFlags = append(archiveFlags(os.UserCacheDir, d, n > 0), c.jvmFlags...)
	var e *Ensemble
	for range startAttempts {
		e, err = startOnce(c, d, n, choose)
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return e, err
}

func startOnce(c config, d *Distribution, n int, choose func(n int) ([]member, error)) (*Ensemble, error) {
	members, err := membersWithPorts(c, n, choose)
	if err != nil {
		return nil, err
	}
	e := &Ensemble{}
	if c.links && members[0].peers != nil {
		if e.links, err = newLinks(members); err != nil {
			releaseMembers(members)
			return nil, err
		}
	}
	e.servers, err = newServers(c, d, members)
	if err == nil {
		err = each(e.servers, func(s *Server) error { return s.start("start") })
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// membersWithPorts returns the members with all ports that they need.
func membersWithPorts(c config, n int, choose func(n int) ([]member, error)) ([]member, error) {
	list, err := choose(n)
	if err != nil || c.tlsAuth == nil {
		return list, err
	}
	if err := withTLS(list); err != nil {
		releaseMembers(list)
		return nil, err
	}
	return list, nil
}

// newServers returns the servers that it has made, even with an error, and the
// caller must close them.
func newServers(c config, d *Distribution, members []member) ([]*Server, error) {
	var servers []*Server
	for i, m := range members {
		s, err := newServer(c, d, m)
		if err != nil {
			releaseMembers(members[i+1:])
			return servers, err
		}
		servers = append(servers, s)
	}
	return servers, nil
}

// each calls do for all servers at once, waits for all calls and joins their
// errors.
func each(servers []*Server, do func(*Server) error) error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() { errs[i] = do(s) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
