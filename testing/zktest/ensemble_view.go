package zktest

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ensembleView is the configuration of an ensemble: who belongs to it, and who
// votes. A view is never changed, only replaced.
type ensembleView struct {
	version int64 // the zxid of the reconfig that has made it
	servers map[int64]serverSpec
}

func (v ensembleView) has(id int) bool {
	_, has := v.servers[int64(id)]
	return has
}

// observes reports whether the member is an observer, which follows without a
// vote.
func (v ensembleView) observes(id int) bool { return v.servers[int64(id)].observer }

// voters returns how many members have a vote. Members that nobody has started
// count, too.
func (v ensembleView) voters() (n int) {
	for _, s := range v.servers {
		if !s.observer {
			n++
		}
	}
	return n
}

// text is the data of the config node.
func (v ensembleView) text() []byte {
	b := make([]byte, 0, 64*(len(v.servers)+1))
	for _, id := range slices.Sorted(maps.Keys(v.servers)) {
		b = append(b, "server."...)
		b = strconv.AppendInt(b, id, 10)
		b = append(b, '=')
		b = v.servers[id].appendTo(b)
		b = append(b, '\n')
	}
	b = append(b, "version="...)
	return strconv.AppendInt(b, v.version, 16)
}

const loopbackHost = "127.0.0.1"

// serverSpec is how a configuration describes a member, behind "server.<id>=".
type serverSpec struct {
	addrs    []serverAddr
	observer bool
	client   string // host and port, "" if it is not told
}

// serverAddr is where other servers reach a member.
type serverAddr struct {
	host             string
	quorum, election int
}

// appendTo appends the form that a real server gives it. Each ensemble that
// starts does this for every member.
func (s serverSpec) appendTo(b []byte) []byte {
	for i, a := range s.addrs {
		if i > 0 {
			b = append(b, '|')
		}
		b = a.appendTo(b)
	}
	role := ":participant"
	if s.observer {
		role = ":observer"
	}
	b = append(b, role...)
	if s.client != "" {
		b = append(append(b, ';'), s.client...)
	}
	return b
}

func (a serverAddr) appendTo(b []byte) []byte {
	if strings.Contains(a.host, ":") { // IPv6
		b = append(append(append(b, '['), a.host...), ']')
	} else {
		b = append(b, a.host...)
	}
	b = strconv.AppendInt(append(b, ':'), int64(a.quorum), 10)
	return strconv.AppendInt(append(b, ':'), int64(a.election), 10)
}

// parseServerSpec reads host:port:port[:role][;[host:]port]. The part before
// the semicolon may come several times with | between.
func parseServerSpec(text string) (s serverSpec, valid bool) {
	servers, client, hasClient := strings.Cut(text, ";")
	if hasClient {
		if s.client, valid = parseClientAddr(client); !valid {
			return s, false
		}
	}
	for server := range strings.SplitSeq(servers, "|") {
		parts := hostAndPorts(server)
		if len(parts) < 3 || len(parts) > 4 {
			return s, false
		}
		quorum, okQuorum := parsePort(parts[1])
		election, okElection := parsePort(parts[2])
		if !okQuorum || !okElection {
			return s, false
		}
		s.addrs = append(s.addrs, serverAddr{parts[0], quorum, election})
		if len(parts) == 4 {
			switch strings.ToLower(parts[3]) {
			case "observer":
				s.observer = true
			case "participant":
				s.observer = false
			default:
				return s, false
			}
		}
	}
	return s, true
}

func parseClientAddr(text string) (addr string, valid bool) {
	parts := hostAndPorts(text)
	if len(parts) == 1 {
		parts = []string{"0.0.0.0", parts[0]}
	}
	if len(parts) != 2 {
		return "", false
	}
	port, valid := parsePort(parts[1])
	return net.JoinHostPort(parts[0], strconv.Itoa(port)), valid
}

// hostAndPorts splits at colons. An IPv6 address is in brackets.
func hostAndPorts(text string) []string {
	if v6, rest, found := strings.Cut(strings.TrimPrefix(text, "["), "]:"); found && text[0] == '[' {
		return append([]string{v6}, strings.Split(rest, ":")...)
	}
	return strings.Split(text, ":")
}

func parsePort(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n <= 65535
}

// clashesWith reports whether two members claim one address. As on a real
// server, loopback addresses and 0.0.0.0 do not count.
func (s serverSpec) clashesWith(o serverSpec) bool {
	theirs := o.hostPorts()
	return slices.ContainsFunc(s.hostPorts(), func(a string) bool { return slices.Contains(theirs, a) })
}

func (s serverSpec) hostPorts() (list []string) {
	add := func(host string, port int) {
		if ip, err := netip.ParseAddr(host); err == nil && !ip.IsLoopback() && !ip.IsUnspecified() {
			list = append(list, fmt.Sprintf("%s %d", ip, port))
		}
	}
	for _, a := range s.addrs {
		add(a.host, a.quorum)
		add(a.host, a.election)
	}
	if host, port, err := net.SplitHostPort(s.client); err == nil {
		n, _ := parsePort(port)
		add(host, n)
	}
	return list
}
