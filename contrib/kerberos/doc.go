// Package kerberos authenticates clients of ZooKeeper by Kerberos 5. Its [Mechanism] is
// SASL's GSSAPI (RFC 4752), for framework.WithSASL:
//
//	mechanism, err := kerberos.New(kerberos.Config{
//		Principal: "orders@EXAMPLE.COM",
//		Keytab:    "/etc/orders.keytab",
//	})
//	if err != nil {
//		return err
//	}
//	client, err := framework.New("zk1.example.com,zk2.example.com", framework.WithSASL(mechanism))
//
// Access control lists then name the client as orders@EXAMPLE.COM, in the scheme sasl.
//
// # What is protected
//
// The client proves its identity to the server, and the server proves that it has the key
// of its principal, such as zookeeper/zk1.example.com. ZooKeeper uses no security layer of
// GSSAPI, so later requests and replies are neither encrypted nor signed. Add
// framework.WithTLS on networks that you do not trust.
//
// # Tickets
//
// A connection needs a ticket for its server. The Mechanism fetches the ticket when the
// client connects to that server for the first time, and keeps the ticket until it ends.
// Nothing is renewed in the background, and an open connection needs no ticket.
//
// To fetch a ticket, Start reads the keytab, logs in, and asks a KDC by TCP until the
// context ends. Without a keytab, Start reads the credential cache instead of the login.
// Another program, such as k5start, SSSD or kinit, must renew the cache.
//
// If no KDC answers, the client still connects to a server whose ticket is kept, and the
// session goes on. At a server without a kept ticket, the attempt fails as if the server
// were down: the client tries the next server, operations wait, and the session is lost
// if that takes longer than the session timeout.
//
// If a server has not accepted a ticket, the next Start asks a KDC for a new ticket. If
// there is none, because a KDC refuses or is silent, the kept ticket is tried again.
//
// # Configuration
//
// $KRB5_CONFIG, or else /etc/krb5.conf, names the KDCs. The parser is gokrb5's: it ignores
// include, includedir, and all but the first file of a list. If the file has no KDC of a
// realm, Start looks up the realm's SRV records _kerberos._tcp, unless dns_lookup_kdc is
// false. A realm without any KDC is a refusal.
package kerberos
