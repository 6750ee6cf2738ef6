package kerberos

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	krb5 "github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/gocurator/curator/framework/sasl"
)

// Config names the client and the servers. If Keytab is empty, the client uses a
// credential cache.
type Config struct {
	// Keytab is the path of a file with the keys of Principal.
	Keytab string

	// Principal is the client, such as orders@EXAMPLE.COM. Without a realm, it is in
	// krb5.conf's default realm. If Keytab is empty, Principal may be empty: the
	// credential cache's principal is then used.
	Principal string

	// Cache is the path of a credential cache, such as kinit's. The path may begin with
	// FILE:; other kinds of caches cannot be read. The default is $KRB5CCNAME or, if that
	// is not set, /tmp/krb5cc_ and the user's number.
	Cache string

	// ServiceName is the first part of the servers' principals, by default "zookeeper".
	// This is Java's property zookeeper.sasl.client.username.
	ServiceName string

	// HostNamesAsGiven names the servers' principals after the hosts in the connection
	// string. By default, the client looks up the host's first address, and then the name
	// of that address, so reverse DNS decides which service of the realm the client takes
	// for the server. HostNamesAsGiven is the opposite of Java's property
	// zookeeper.sasl.client.canonicalize.hostname. As in Java, the client looks up the
	// name of an IP address in any case, and completes a host name without a dot: zk1
	// becomes zk1.example.com if that is the name of its address.
	HostNamesAsGiven bool

	// ServerPrincipal is the principal of all servers, such as zookeeper/ensemble@EXAMPLE.COM.
	// The realm is optional. This is Java's property zookeeper.server.principal.
	ServerPrincipal string
}

// Mechanism is a sasl.Mechanism. Several clients may share it, and its tickets. A
// Mechanism has no goroutine and need not be closed.
type Mechanism struct {
	config   Config
	krb5     *krb5.Config // krb5.conf
	client   principal
	server   principal // empty without Config.ServerPrincipal
	resolver resolver
	tickets  sync.Map // of *ticket, by the server's principal
}

var _ sasl.Mechanism = (*Mechanism)(nil)

// New reads krb5.conf and the keytab or credential cache, so that mistakes show early: the
// error is an *Error. New asks no KDC.
func New(config Config) (m *Mechanism, err error) {
	m = &Mechanism{config: config, resolver: net.DefaultResolver}
	m.krb5, err = readConfig()
	if err == nil && (config.Principal != "" || config.Keytab != "") {
		m.client, err = parsePrincipal(config.Principal, m.krb5.LibDefaults.DefaultRealm)
	}
	if err == nil && config.Keytab != "" {
		_, err = readKeytab(config.Keytab, m.client)
	} else if err == nil {
		m.client, _, err = readCache(config.Cache, m.client)
	}
	if err == nil && config.ServerPrincipal != "" {
		m.server, err = parsePrincipal(config.ServerPrincipal, m.client.realm)
	}
	if err != nil {
		return nil, &Error{Principal: config.Principal, Err: err}
	}
	return m, nil
}

// Name returns "GSSAPI".
func (m *Mechanism) Name() string { return "GSSAPI" }

// Principal returns the client's principal, such as orders@EXAMPLE.COM. It is also the
// client's identity in the ACL scheme sasl, unless the servers are configured to drop
// the host or the realm.
func (m *Mechanism) Principal() string { return m.client.String() }

// Start makes the first message for a server. Start asks a KDC if there is no valid
// ticket for that server, or if the server did not accept that ticket the last time.
//
// The error is an *Error. A *sasl.Error wraps the *Error if the KDC has refused, or if the
// keytab or credential cache cannot be used: the client's operations fail at once. If no
// KDC has answered, the *Error is not wrapped, and the operations wait.
func (m *Mechanism) Start(ctx context.Context, server string) (e sasl.Exchange, first []byte, err error) {
	name, talk := m.serverPrincipal(ctx, server), &conversation{Mechanism: m}
	err = decode(func() error {
		t, err := talk.ticket(ctx, name)
		if err == nil {
			e, first, err = newExchange(m.client, t)
		}
		return err
	})
	if err == nil {
		return e, first, nil
	}
	err = &Error{m.Principal(), name.String(), strings.Join(talk.asked, ","), talk.code, err}
	if !talk.away {
		err = &sasl.Error{Mechanism: m.Name(), Principal: m.Principal(), Err: err}
	}
	return nil, nil, err
}

// ticket returns a ticket for a server: the last one, if the server has accepted that, or
// else a new one. Without a new ticket, the last ticket serves until it ends: a good ticket
// is unproven, too, if a connection was lost during an exchange, or while another client's
// exchange goes on.
func (c *conversation) ticket(ctx context.Context, server principal) (*ticket, error) {
	value, _ := c.tickets.Load(server)
	kept, _ := value.(*ticket)
	valid := kept != nil && time.Now().Before(kept.end)
	if valid && kept.proven.Swap(false) {
		return kept, nil
	}
	if valid {
		c.spare = 1 // a KDC that is silent must leave time for the exchange
	}
	t, err := c.login(ctx)
	if err == nil {
		t, err = c.serviceTicket(ctx, t, server)
	}
	if err != nil && valid {
		return kept, nil
	}
	if err == nil {
		c.tickets.Store(server, t)
	}
	return t, err
}

// Error says why New has failed, or why there is no ticket for a server. It contains no
// secret.
type Error struct {
	Principal string // of the client
	Server    string // the server's principal, or empty if New has failed
	KDC       string // the addresses of the KDCs that were asked, separated by commas, or empty

	// Code is the KDC's error code of RFC 4120, such as 24 for a keytab with a wrong
	// key. It is 0 if no KDC has refused.
	Code int32

	Err error
}

// Error returns a sentence with the principals, the KDCs, and Err.
func (e *Error) Error() string {
	if e.Server == "" {
		return fmt.Sprintf("kerberos: %v", e.Err)
	}
	kdc := cmp.Or(e.KDC, "not asked")
	return fmt.Sprintf("kerberos: no ticket of %q for %q (KDC %s): %v", e.Principal, e.Server, kdc, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// principal is a Kerberos principal. The parts of its name are separated by slashes.
type principal struct{ name, realm string }

func (p principal) String() string { return p.name + "@" + p.realm }

// grantingService is the service of a realm's KDCs that grants tickets.
func grantingService(realm string) types.PrincipalName {
	return types.NewPrincipalName(nametype.KRB_NT_SRV_INST, "krbtgt/"+realm)
}

// parsePrincipal parses name@REALM, or a name of the realm.
func parsePrincipal(text, realm string) (principal, error) {
	name, own, given := strings.Cut(text, "@")
	if given {
		realm = own
	}
	if name == "" || realm == "" || strings.ContainsAny(realm, "@/") {
		return principal{}, fmt.Errorf("%q is not a principal, such as user@REALM", text)
	}
	return principal{name, realm}, nil
}
