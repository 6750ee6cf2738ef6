package zkserver

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports are taken from below the range that systems give to outgoing connections (32768 and up on Linux, 49152 and up
// elsewhere, unless changed). So no connection can take the port of a server that is down, and a client that dials that port
// cannot be given the same port as its own and so be connected to itself.
const (
	firstPort = 15000
	lastPort  = 32000
)

// reserved holds the ports of the servers of this program, running or not. A port is reserved by who has bound it for UDP:
// TCP stays free for the server, and other programs with servers of this package keep away, also while the server is down.
// When the program ends, however it does, the system releases its ports.
var reserved struct {
	sync.Mutex
	ports map[int]net.PacketConn
}

// reservePorts returns n ports on which nothing listens. Until releasePorts nobody gets them who asks here, in whichever
// program. Any other program can still take one before the server does: the start is then tried again with other ports.
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
