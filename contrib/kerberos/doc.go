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
// A client needs a ticket for each server. A Mechanism keeps each ticket until the ticket
// expires, so most reconnects need no KDC. If a ticket is missing, Start asks KDCs over
// TCP until its context ends. With a keytab, Start logs in for each ticket. With a
// credential cache, Start reads the file for each ticket. Another program, such as
// k5start, SSSD or kinit, must renew that file.
//
// # Configuration
//
// The file $KRB5_CONFIG, by default /etc/krb5.conf, names the KDCs. gokrb5's parser
// ignores include, includedir, and all files of a list except the first. If the file has
// no KDC of a realm, Start looks up the realm's SRV records _kerberos._tcp.
package kerberos
