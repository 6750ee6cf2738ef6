package zkserver

import (
	"fmt"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// member is a server's id, its ports and, in an ensemble, its peers.
type member struct {
	id       int
	client   int
	quorum   int // 0 for a standalone server
	election int // 0 for a standalone server
	secure   int // 0 without TLS
	// Every member of the ensemble, including this one. It is nil for a
	// standalone server.
	peers []member
}

// newMembers returns the members of an ensemble of n servers, or a standalone
// server if n is 0.
func newMembers(n int) ([]member, error) {
	if n == 0 {
		return standalone()
	}
	return ensemble(n)
}

func standalone() ([]member, error) {
	ports, err := reservePorts(1)
	if err != nil {
		return nil, err
	}
	return []member{{id: 1, client: ports[0]}}, nil
}

func ensemble(n int) ([]member, error) {
	ports, err := reservePorts(3 * n)
	if err != nil {
		return nil, err
	}
	peers := make([]member, n)
	for i := range peers {
		peers[i] = member{id: i + 1, client: ports[3*i], quorum: ports[3*i+1], election: ports[3*i+2]}
	}
	members := make([]member, n)
	for i, m := range peers {
		m.peers = peers
		members[i] = m
	}
	return members, nil
}

// ports returns the ports that the member has reserved.
func (m member) ports() []int {
	var ports []int
	for _, port := range []int{m.client, m.quorum, m.election, m.secure} {
		if port != 0 {
			ports = append(ports, port)
		}
	}
	return ports
}

// withTLS gives each member one more port, for TLS.
func withTLS(members []member) error {
	ports, err := reservePorts(len(members))
	if err != nil {
		return err
	}
	for i := range members {
		members[i].secure = ports[i]
	}
	return nil
}

func releaseMembers(members []member) {
	for _, m := range members {
		releasePorts(m.ports())
	}
}

func (m member) addr() string       { return local(m.client) }
func (m member) secureAddr() string { return local(m.secure) }

func local(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// spec is the member's line in zoo.cfg. It includes the client address, so that
// clients can read it from /zookeeper/config.
func (m member) spec() string {
	return fmt.Sprintf("%s:%d:%d;%s", loopback, m.quorum, m.election, m.addr())
}
