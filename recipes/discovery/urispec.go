package discovery

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/netip"
	"strconv"
	"strings"
)

// URISpec says how to make a URI of an instance: text with variables in braces,
// such as {scheme}://{address}:{port}. It is Java's UriSpec.
//
// The variables are scheme, which is https if the instance has a TLS port and
// http if not, name, id, address, port, ssl-port, registration-time-utc in
// milliseconds since 1970, and service-type in small letters. {[} and {]} are
// literal braces.
type URISpec string

// Build returns the URI of an instance. Variables replace what the instance has
// for a name, and add other names; they may be nil. As in Java, one that has no value leaves
// nothing behind. Other than in Java, an IPv6 address gets brackets if it begins
// the authority, as it does in {scheme}://{address}:{port}.
//
// An error, which matches zk.ErrBadArguments, says which brace is wrong, or that
// the URI is longer than 64 KiB.
func (u URISpec) Build(i Instance, variables map[string]string) (string, error) {
	parts, err := u.parts()
	if err != nil {
		return "", err
	}
	values := variablesOf(i)
	maps.Copy(values, variables)
	var b strings.Builder
	for _, p := range parts {
		text := p.Value
		if p.Variable {
			text = values[p.Value]
		}
		if p.Variable && p.Value == "address" && isIPv6(text) && strings.HasSuffix(b.String(), "//") {
			text = "[" + text + "]"
		}
		if b.Len()+len(text) > maxURI {
			return "", u.invalid("makes a URI that is longer than 64 KiB")
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// isIPv6 reports whether an address needs brackets in a URI.
func isIPv6(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && ip.Is6()
}

func variablesOf(i Instance) map[string]string {
	values := map[string]string{
		"[": "{", "]": "}", "scheme": "http", "name": i.Service, "id": i.ID, "address": i.Address,
		"registration-time-utc": strconv.FormatInt(millis(i), 10), "service-type": strings.ToLower(i.Kind.String()),
	}
	if i.Port != 0 {
		values["port"] = strconv.Itoa(i.Port)
	}
	if i.TLSPort != 0 {
		values["scheme"], values["ssl-port"] = "https", strconv.Itoa(i.TLSPort)
	}
	if i.Kind == NoKind {
		delete(values, "service-type")
	}
	return values
}

// uriPart is one part of a URISpec, as Java writes it.
type uriPart struct {
	Value    string `json:"value"`
	Variable bool   `json:"variable"`
}

func (u URISpec) invalid(reason string) error { return invalid("URI", string(u), reason) }

func (u URISpec) parts() (parts []uriPart, err error) {
	if len(u) > maxURISpec {
		return nil, u.invalid("must be no longer than 8 KiB")
	}
	for rest := string(u); rest != ""; {
		at := strings.IndexAny(rest, "{}")
		if at < 0 {
			return withText(parts, rest), nil
		}
		if rest[at] == '}' {
			return nil, u.invalid("} needs a { before it")
		}
		if at > 0 {
			parts = withText(parts, rest[:at])
		}
		name, after, closed := strings.Cut(rest[at+1:], "}")
		name = strings.TrimFunc(name, javaBlank)
		switch {
		case !closed:
			return nil, u.invalid("{ needs a } behind it")
		case strings.Contains(name, "{"):
			return nil, u.invalid("a variable must not have a {")
		case name != "":
			parts = append(parts, uriPart{name, true})
		}
		rest = after
	}
	return parts, nil
}

// withText adds text. It goes on with the text before a variable without a name.
func withText(parts []uriPart, text string) []uriPart {
	if last := len(parts) - 1; last >= 0 && !parts[last].Variable {
		parts[last].Value += text
		return parts
	}
	return append(parts, uriPart{text, false})
}

// saysNothing reports whether there is no part, which Java writes as null.
func (u URISpec) saysNothing() bool {
	parts, err := u.parts()
	return err == nil && len(parts) == 0
}

// javaBlank reports what Java's String.trim takes away.
func javaBlank(r rune) bool { return r <= ' ' }

// uriSpec reads a URISpec that is a text, or an object with parts. One that has no
// parts says nothing.
func (f *fields) uriSpec(key string) URISpec {
	raw := f.value(key)
	if raw == nil {
		return ""
	}
	u := URISpec("")
	if raw[0] == '"' {
		u = URISpec(f.text(key))
	} else {
		u = f.uriParts(key)
	}
	_, err := u.parts()
	f.err = cmp.Or(f.err, err)
	if u.saysNothing() {
		return ""
	}
	return u
}

// uriParts reads parts. Java has nothing for a variable with braces in its name,
// and no text can say it, so it is left out.
func (f *fields) uriParts(key string) URISpec {
	raw, given := f.object(key).raw["parts"]
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); given && (err != nil || parts == nil) {
		f.fail(key, "no list of parts")
	}
	var b strings.Builder
	for _, raw := range parts {
		part, err := readFields(raw)
		if err != nil {
			f.fail(key, "no list of parts")
			break
		}
		value, variable := part.text("value"), part.flag("variable")
		f.err = cmp.Or(f.err, part.err)
		switch {
		case !variable:
			b.WriteString(braces.Replace(value))
		case !strings.ContainsAny(value, "{}"):
			b.WriteString("{" + value + "}")
		}
	}
	return URISpec(b.String())
}

var braces = strings.NewReplacer("{", "{[}", "}", "{]}")
