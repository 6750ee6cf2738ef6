package zkserver

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports come from below the range that systems use for outgoing connections.
// That range begins at 32768 on Linux and at 49152 elsewhere, unless changed.
// So no outgoing connection takes the port of a server that is down. A client
// that dials such a port also cannot get the same port as its own, which would
// connect it to itself.
const (
	firstPort = 15000
	lastPort  = 32000
)

// reserved holds the ports of this program's servers, running or not. To
// reserve a port is to bind it for UDP. TCP stays free for the server, and
// other programs that use this package keep away from the port even while the
// server is down. When the program ends in any way, the system releases its
// ports.
var reserved struct {
	sync.Mutex
	ports map[int]net.PacketConn
}

// reservePorts returns n ports that no program listens on. Until releasePorts,
// no other call in this or another program returns them. A program without this
// package can still take one before the server does. In that case the start is
// repeated with other ports.
func reservePorts(n int) ([]int, error) {
	var ports []int
	for range 1000 {
		if len(ports) == n {
			return ports, nil
		}
		if port := firstPort + rand.IntN(lastPort-firstPort); reserve(port) {
			ports = append(ports, port)
		}
	}
	releasePorts(ports)
	return nil, errors.New("zkserver: no free ports")
}

func reserve(port int) bool {
	claim, err := net.ListenPacket("udp", local(port))
	if err != nil {
		return false
	}
	if !listenable(port) {
		_ = claim.Close()
		return false
	}
	reserved.Lock()
	defer reserved.Unlock()
	if reserved.ports == nil {
		reserved.ports = make(map[int]net.PacketConn)
	}
	reserved.ports[port] = claim
	return true
}

func listenable(port int) bool {
	l, err := net.Listen("tcp", local(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func releasePorts(ports []int) {
	reserved.Lock()
	defer reserved.Unlock()
	for _, port := range ports {
		if claim, ok := reserved.ports[port]; ok {
			_ = claim.Close()
			delete(reserved.ports, port)
		}
	}
}
