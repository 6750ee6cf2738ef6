package framework

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

const defaultPort = "2181"

// parseConnectString splits "host1:2181,host2,[::1]:2182/chroot" into addresses, each
// with a port, and the chroot, which is empty if there is none. Like Java, it ignores
// empty parts, such as after the last comma.
//
// A comma in the chroot is an error: it usually means that the chroot follows each
// server, as in other clients' configurations. As a part of the path, the comma would
// hide servers and move the nodes into another tree.
func parseConnectString(s string) (servers []string, chroot string, err error) {
	malformed := func(reason string) error { return badArgument("connection string", s, reason) }

	if strings.Contains(s, "://") {
		return nil, "", malformed("it has no scheme: \"host1:2181,host2:2181/chroot\"")
	}
	hosts, path, hasChroot := strings.Cut(s, "/")
	if hasChroot && path != "" { // "host:2181/" means no chroot, as in the Java client
		chroot = "/" + path
		if strings.Contains(path, ",") {
			return nil, "", malformed("the chroot has a comma: write it once, after the last server")
		}
		if err := validatePath(chroot); err != nil {
			return nil, "", malformed("chroot: " + err.Error())
		}
	}
	for _, host := range strings.Split(hosts, ",") {
		if host = strings.TrimSpace(host); host == "" {
			continue
		}
		server, err := parseServer(host)
		if err != nil {
			return nil, "", malformed(err.Error())
		}
		servers = append(servers, server)
	}
	if len(servers) == 0 {
		return nil, "", malformed("no servers")
	}
	return servers, chroot, nil
}

func parseServer(s string) (string, error) {
	host, port := s, defaultPort
	switch {
	case strings.Count(s, ":") > 1 && s[0] != '[':
		return "", errors.New("too many colons in " + strconv.Quote(s) + ": an IPv6 address needs brackets")
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		host = s[1 : len(s)-1]
	case strings.Contains(s, ":"):
		var err error
		if host, port, err = net.SplitHostPort(s); err != nil {
			return "", err
		}
	}
	if host == "" {
		return "", errors.New("a server has no host")
	}
	if strings.ContainsAny(host, " \t\r\n\x00[]/") {
		return "", errors.New("invalid character in host " + strconv.Quote(host))
	}
	if _, err := netip.ParseAddr(host); err != nil && strings.Contains(host, ":") {
		return "", errors.New("invalid IPv6 address " + strconv.Quote(host))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New("invalid port " + strconv.Quote(port))
	}
	return net.JoinHostPort(host, port), nil
}
