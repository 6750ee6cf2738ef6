package framework

import (
	"net"
	"strconv"
	"strings"
)

// EnsembleConfig is the configuration of an ensemble that its servers share,
// which is in ZooKeeper's dynamic configuration file.
type EnsembleConfig struct {
	// Members are in the order of the configuration, which sorts the IDs as
	// text.
	Members []Member

	// Version grows with each change. It is 0 if the servers have never written
	// one.
	Version int64

	// Other are the lines that are no members, such as groups and weights, and
	// lines that this version of the package does not understand.
	Other []string
}

// Member is a server of an ensemble.
type Member struct {
	ID        int64
	Addresses []MemberAddress // for its peers; more than one only since 3.6
	Role      string          // "participant", "observer", or empty for the former

	// Client is the address that clients connect to, such as "0.0.0.0:2181",
	// which is every address of the server's. It is empty if the configuration
	// does not say. Newer versions have more text behind the port, which is
	// kept.
	Client string
}

// MemberAddress is where a member is reached by its peers.
type MemberAddress struct {
	Host         string // a name, or an IP address without brackets
	QuorumPort   int
	ElectionPort int
}

// String returns the member as in a configuration:
// server.1=host:2888:3888:participant;0.0.0.0:2181.
func (m Member) String() string {
	var b strings.Builder
	b.WriteString("server." + strconv.FormatInt(m.ID, 10) + "=")
	for i, a := range m.Addresses {
		if i > 0 {
			b.WriteByte('|')
		}
		b.WriteString(net.JoinHostPort(a.Host, strconv.Itoa(a.QuorumPort)) + ":" + strconv.Itoa(a.ElectionPort))
	}
	if m.Role != "" {
		b.WriteString(":" + m.Role)
	}
	if m.Client != "" {
		b.WriteString(";" + m.Client)
	}
	return b.String()
}

// parseEnsembleConfig reads the data of the node /zookeeper/config. Nothing is
// an error: lines that it does not understand are in Other.
func parseEnsembleConfig(data []byte) EnsembleConfig {
	var c EnsembleConfig
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if m, ok := parseMember(key, value); ok {
			c.Members = append(c.Members, m)
		} else if version, err := strconv.ParseInt(value, 16, 64); key == "version" && err == nil {
			c.Version = version
		} else {
			c.Other = append(c.Other, line)
		}
	}
	return c
}

// parseMember reads server.<id>=<address>[|<address>...][:<role>][;<client>].
func parseMember(key, value string) (m Member, ok bool) {
	number, isServer := strings.CutPrefix(key, "server.")
	id, err := strconv.ParseInt(number, 10, 64)
	if !isServer || err != nil {
		return m, false
	}
	m.ID = id
	value, m.Client, _ = strings.Cut(value, ";")
	if at := strings.LastIndexByte(value, ':'); at >= 0 {
		if role := value[at+1:]; strings.EqualFold(role, "participant") || strings.EqualFold(role, "observer") {
			value, m.Role = value[:at], strings.ToLower(role)
		}
	}
	for part := range strings.SplitSeq(value, "|") {
		address, ok := parseMemberAddress(part)
		if !ok {
			return m, false
		}
		m.Addresses = append(m.Addresses, address)
	}
	return m, true
}

// parseMemberAddress reads <host>:<quorum port>:<election port>.
func parseMemberAddress(s string) (a MemberAddress, ok bool) {
	at := strings.LastIndexByte(s, ':')
	if at < 0 {
		return a, false
	}
	host, quorum, err := net.SplitHostPort(s[:at])
	if err != nil {
		return a, false
	}
	a.Host = host
	if a.QuorumPort, ok = parsePort(quorum); !ok {
		return a, false
	}
	a.ElectionPort, ok = parsePort(s[at+1:])
	return a, ok
}

func parsePort(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return int(n), err == nil
}
