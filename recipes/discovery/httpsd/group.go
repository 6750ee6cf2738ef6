package httpsd

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/gocurator/curator/recipes/discovery"
)

// group is what Prometheus calls so: targets that have the same labels.
type group struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

const prefix = "__meta_zookeeper_"

// groups returns a group for each instance that is a target.
func (h *handler) groups(now *discovery.Snapshot) []group {
	all := make([]group, 0, len(now.Entries))
	for _, e := range now.Entries {
		labels := labelsOf(e)
		target := ""
		if h.target != nil {
			target = h.target(e)
		} else {
			target = defaultTarget(e, labels)
		}
		if target != "" {
			all = append(all, group{[]string{target}, labels})
		}
	}
	return all
}

// defaultTarget returns where an instance listens, and says in the labels if
// that is its TLS port.
func defaultTarget(e *discovery.Entry, labels map[string]string) string {
	port := e.Port
	if port == 0 && e.TLSPort != 0 {
		port = e.TLSPort
		labels["__scheme__"] = "https"
	}
	if e.Address == "" || port == 0 {
		return ""
	}
	return net.JoinHostPort(e.Address, strconv.Itoa(port))
}

func labelsOf(e *discovery.Entry) map[string]string {
	labels := map[string]string{
		prefix + "service":  e.Service,
		prefix + "id":       e.ID,
		prefix + "disabled": strconv.FormatBool(e.Disabled),
	}
	if e.TLSPort != 0 {
		labels[prefix+"tls_port"] = strconv.Itoa(e.TLSPort)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Metadata)) {
		label := prefix + "metadata_" + labelName(name)
		if _, taken := labels[label]; !taken {
			labels[label] = e.Metadata[name]
		}
	}
	return labels
}

// labelName returns the name of a label without what Prometheus does not allow
// in it. One name that it refuses would cost all targets.
func labelName(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			return c
		}
		return '_'
	}, name)
}
