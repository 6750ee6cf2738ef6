package zkserver

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are taken from below the range that systems give to outgoing connections (32768 and up on Linux, 49152 and up
// elsewhere, unless changed). So no connection can take the port of a server that is down, and a client that dials that port
// cannot be given the same port as its own and so be connected to itself.
const (
	firstPort = 15000
	lastPort  = 32000
)

// reserved holds the ports of the servers of this program, running or not.
var reserved struct {
	sync.Mutex
	ports map[int]bool
}

// reservePorts returns n ports on which nothing listens, for this program alone until releasePorts. Another program can
// still take one before the server does: the start is then tried again with other ports.
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
	reserved.Lock()
	if reserved.ports == nil {
		reserved.ports = make(map[int]bool)
	}
	taken := reserved.ports[port]
	reserved.ports[port] = true
	reserved.Unlock()
	if taken {
		return false
	}
	if !listenable(port) {
		releasePorts([]int{port})
		return false
	}
	return true
}

func listenable(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func releasePorts(ports []int) {
	reserved.Lock()
	defer reserved.Unlock()
	for _, port := range ports {
		delete(reserved.ports, port)
	}
}
