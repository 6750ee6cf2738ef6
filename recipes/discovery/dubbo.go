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

// DubboCodec is Dubbo's format at the level of applications, which Dubbo 3 has.
// The service is the application. The base is /services, if Dubbo's registry has
// neither a root path nor a group.
//
// The name of a node is address:port, whatever the instance's ID. An instance
// needs both, has no TLS port, and cannot be Disabled. Metadata are Dubbo's, such as
// dubbo.metadata.revision and dubbo.endpoints. Payload is what Dubbo writes
// around them, and Encode makes it anew.
//
// Before a consumer in Java finds an interface, it needs the interface's mapping
// and the application's metadata. They are not written.
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

// DubboInterfaceCodec is Dubbo's format at the level of interfaces, which all
// versions of Dubbo have. The service is the interface, the base is /dubbo if
// Dubbo's registry has no group, and the instances are the providers.
//
// The name of a node is the provider's URL, whatever the instance's ID: nothing
// else is read. Metadata are the parameters of the URL, such as group, version
// and methods, as they are there: Dubbo's own escapes are left alone. Payload is
// an object with the protocol and the path of the URL. Encode takes the protocol
// that is given here, such as tri, and the interface.
//
// An instance needs an address and a port. It is Disabled if its parameter enabled
// says so, because Dubbo's consumers leave it out then. Encode refuses an instance
// whose parameter says the opposite, so that Drain is an error: it would need
// another node. Without them in Metadata, Encode adds the parameters interface and
// timestamp, which is Registered. A Static or Permanent instance needs the same one
// in each process: with another one it has another node, and the old one stays.
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

// dubboURL is what a URL has beside host, port and parameters.
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
	i.Disabled = false // it is said
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

// namedAt returns the instance of a node whose name has its address and port: at is
// the part that hostPort has made. Dubbo itself writes an IPv6 address without
// brackets.
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

// isTrue returns a parameter that is a boolean, and true if it is missing or empty.
// For Java, each text but true is false.
func isTrue(parameters map[string]string, name string) bool {
	value := parameters[name]
	return value == "" || strings.EqualFold(value, "true")
}

// defaultPrefix begins the name of a parameter that older versions of Dubbo write. Its
// value is also that of the name without it, if there is no such parameter.
const defaultPrefix = "default."

// readParameters reads the parameters of a URL as Dubbo does: one without = is empty.
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

// javaEscape is Java's URLEncoder: other than url.QueryEscape, it escapes ~ and
// not *.
func javaEscape(text string) string { return asJava.Replace(url.QueryEscape(text)) }

var asJava = strings.NewReplacer("~", "%7E", "%2A", "*")
