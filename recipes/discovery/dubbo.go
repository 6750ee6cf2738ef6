package discovery

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// DubboCodec is Dubbo 3's format for registration by application. The service is the
// application. The base is /services, unless Dubbo's registry has a root path or a group.
//
// The name of a node is address:port, whatever the instance's ID. An instance needs
// address and port, has no TLS port, and cannot be Disabled. Metadata are Dubbo's, such
// as dubbo.metadata.revision and dubbo.endpoints. Decode sets Payload to the object that
// Dubbo writes around the metadata; Encode ignores Payload, and creates that object.
//
// Consumers in Java find an interface only with the interface's mapping and the
// application's metadata. DubboCodec writes neither.
func DubboCodec() Codec { return dubbo{} }

type dubbo struct{ plainTree }

func (dubbo) Encode(i Instance) (_ string, _ []byte, err error) {
	if err := cmp.Or(checkPlain(i), checkID(i.HostPort())); err != nil {
		return "", nil, err
	}
	labels := i.Metadata
	if labels == nil {
		labels = map[string]string{} // Java's readers cannot take null
	}
	i.Payload, err = marshal(labelled{dubboClass, i.HostPort(), i.Service, labels})
	if err != nil {
		return "", nil, err
	}
	return encodeJava(i, i.HostPort())
}

func (dubbo) Decode(service, name string, data []byte) (Instance, error) {
	return decodeJava(service, name, data, "dubbo")
}

// DubboInterfaceCodec is Dubbo's format for registration by interface, which all versions
// of Dubbo support. The service is the interface, and the instances are its providers.
// The base is /dubbo, unless Dubbo's registry has a group.
//
// The name of a node is the provider's URL, whatever the instance's ID. The node's data
// are not read. Metadata are the parameters of the URL, such as group, version and
// methods, with Dubbo's own escapes unchanged. Payload is an object with protocol and
// path of the URL. Encode writes the given protocol, such as tri, and the interface as
// the path.
//
// An instance needs address and port. The instance is Disabled if its parameter enabled
// is false, because Dubbo's consumers then leave it out. Encode refuses an instance whose
// Disabled contradicts the parameter. So Drain is an error, because it would change the
// name of the node. Encode adds the parameters interface and timestamp (Registered) if
// Metadata do not have them. A Static or Permanent instance needs the same timestamp in
// each process: a process with another timestamp would create a second node.
func DubboInterfaceCodec(protocol string) Codec { return dubboInterface{protocol} }

type dubboInterface struct{ protocol string }

const providers = "/providers"

func (dubboInterface) Dir(service string) (string, error) {
	if service == "" {
		return plainTree{}.Dir("")
	}
	return plainTree{}.Dir(javaEscape(service) + providers)
}

func (dubboInterface) Service(dir string) (string, bool) {
	name, ok := strings.CutSuffix(dir, providers)
	name, rooted := strings.CutPrefix(name, "/")
	service, err := url.QueryUnescape(name)
	return service, ok && rooted && err == nil && service != "" && !strings.Contains(name, "/")
}

// dubboURL has the parts of a URL without host, port and parameters.
type dubboURL struct {
	Protocol string `json:"protocol"`
	Path     string `json:"path"`
}

func (d dubboInterface) Encode(i Instance) (string, []byte, error) {
	if d.protocol == "" || i.Service == "" || strings.ContainsAny(d.protocol+i.Service, ":/?") {
		return "", nil, invalid("Dubbo URL", d.protocol+"://.../"+i.Service, "needs a protocol and an interface")
	}
	if strings.ContainsAny(i.Address, "/?@") {
		return "", nil, invalid("address", i.Address, "must have none of / ? @")
	}
	if i.Disabled == isTrue(i.Metadata, "enabled") {
		return "", nil, invalid("disabled instance", i.Disabled, "must be what the parameter enabled says")
	}
	i.Disabled = false // the parameter says it
	parameters, err := dubboParameters(i)
	if err := cmp.Or(checkPlain(i), err); err != nil {
		return "", nil, err
	}
	return javaEscape(d.protocol + "://" + i.HostPort() + "/" + i.Service + "?" + parameters), nil, nil
}

// dubboParameters returns the parameters of an instance's URL, in Dubbo's order.
func dubboParameters(i Instance) (string, error) {
	all := map[string]string{"interface": i.Service}
	if !i.Registered.IsZero() {
		all["timestamp"] = strconv.FormatInt(millis(i), 10)
	}
	maps.Copy(all, i.Metadata)
	var parameters []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if key == "" || strings.ContainsAny(key, "&;=") || strings.ContainsAny(all[key], "&;") {
			return "", invalid("metadata", key+"="+all[key], "a parameter of Dubbo must have no & or ;, and its name no =")
		}
		parameters = append(parameters, key+"="+all[key])
	}
	return strings.Join(parameters, "&"), nil
}

func (dubboInterface) Decode(service, name string, _ []byte) (Instance, error) {
	text, err := url.QueryUnescape(name)
	if err != nil || len(name) > maxData || !utf8.ValidString(text) {
		return Instance{}, fmt.Errorf("no escaped URL: %s", excerpt(name))
	}
	protocol, rest, ok := strings.Cut(text, "://")
	if !ok || protocol == "" {
		return Instance{}, fmt.Errorf("no URL: %s", excerpt(text))
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	i, err := namedAt(service, name, authority[strings.LastIndex(authority, "@")+1:])
	if err != nil {
		return Instance{}, err
	}
	if i.Metadata, err = readParameters(query); err != nil {
		return Instance{}, err
	}
	if ms, err := strconv.ParseInt(i.Metadata["timestamp"], 10, 64); err == nil {
		i.Registered = time.UnixMilli(ms).UTC()
	}
	if !isTrue(i.Metadata, "dynamic") {
		i.Kind = Permanent
	}
	i.Disabled = !isTrue(i.Metadata, "enabled")
	i.Payload, err = marshal(dubboURL{protocol, path})
	return i, err
}

// namedAt returns the instance of a node whose name contains address and port. at is
// that part of the name. Dubbo writes IPv6 addresses without brackets.
func namedAt(service, name, at string) (Instance, error) {
	host, port, err := net.SplitHostPort(at)
	if last := strings.LastIndex(at, ":"); err != nil && last >= 0 && isIPv6(at[:last]) {
		host, port, err = at[:last], at[last+1:], nil
	}
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || n == 0 || host == "" {
		return Instance{}, fmt.Errorf("no address:port: %s", excerpt(at))
	}
	return Instance{Service: service, ID: name, Address: host, Port: int(n)}, nil
}

// isTrue returns a boolean parameter, and true if the parameter is missing or empty. As
// in Java, every text except "true" is false.
func isTrue(parameters map[string]string, name string) bool {
	value := parameters[name]
	return value == "" || strings.EqualFold(value, "true")
}

// defaultPrefix is a prefix of parameter names that older versions of Dubbo write. The
// value also applies to the name without the prefix, unless that parameter exists.
const defaultPrefix = "default."

// readParameters reads the parameters of a URL as Dubbo does: without =, a parameter is
// empty.
func readParameters(query string) (map[string]string, error) {
	if strings.Count(query, "&")+strings.Count(query, ";") > maxLabels {
		return nil, fmt.Errorf("more than %d parameters", maxLabels)
	}
	parameters := map[string]string{}
	for pair := range strings.FieldsFuncSeq(query, isSeparator) {
		if key, value, _ := strings.Cut(strings.TrimLeft(pair, "="), "="); key != "" {
			parameters[key] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		short, found := strings.CutPrefix(name, defaultPrefix)
		for ; found && short != ""; short, found = strings.CutPrefix(short, defaultPrefix) {
			if _, known := parameters[short]; !known {
				parameters[short] = parameters[name]
			}
		}
	}
	return parameters, nil
}

func isSeparator(r rune) bool { return r == '&' || r == ';' }

// javaEscape is Java's URLEncoder. Unlike url.QueryEscape, it escapes ~ and leaves *.
func javaEscape(text string) string { return asJava.Replace(url.QueryEscape(text)) }

var asJava = strings.NewReplacer("~", "%7E", "%2A", "*")
