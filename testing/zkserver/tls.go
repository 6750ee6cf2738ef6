package zkserver

import (
	"context"
	"crypto/tls"
	"strings"
)

// WithTLS makes the servers listen on a second port, for clients that speak TLS; see [Server.TLSAddr]. The first one stays as
// it is. Each Run makes a certificate authority of its own, which lives in memory and for a day, and with it a
// certificate for the servers, which is good for 127.0.0.1, ::1 and localhost, and one for clients; see [Server.ClientTLS].
//
// auth says what the servers want to know of clients: tls.RequireAndVerifyClientCert is ZooKeeper's own default,
// tls.VerifyClientCertIfGiven and tls.NoClientCert are the others that it knows. A client that has shown the certificate has
// the identity of its subject in the scheme x509.
func WithTLS(auth tls.ClientAuthType) Option {
	return func(c *config) { c.tlsAuth = &auth }
}

// clientAuth are the values of ssl.clientAuth.
var clientAuth = map[tls.ClientAuthType]string{
	tls.NoClientCert:               "none",
	tls.VerifyClientCertIfGiven:    "want",
	tls.RequireAndVerifyClientCert: "need",
}

// tlsProperties returns the part of zoo.cfg that is for TLS. Only Netty's connections can do it; they serve both ports.
func tlsProperties(c config, port string, files layout) map[string]string {
	return map[string]string{
		"secureClientPort":        port,
		"secureClientPortAddress": loopback,
		"serverCnxnFactory":       "org.apache.zookeeper.server.NettyServerCnxnFactory",
		"ssl.clientAuth":          clientAuth[*c.tlsAuth],
		"ssl.keyStore.location":   files.inCfg(files.serverPEM()),
		"ssl.keyStore.type":       "PEM",
		"ssl.trustStore.location": files.inCfg(files.caPEM()),
		"ssl.trustStore.type":     "PEM",
	}
}

// TLSAddr returns the address for clients that speak TLS, such as 127.0.0.1:20182, or nothing without [WithTLS].
func (s *Server) TLSAddr() string {
	if s.member.secure == 0 {
		return ""
	}
	return s.member.secureAddr()
}

// ClientTLS returns what a client needs to be let in by the server at TLSAddr, a new value with each call: the authority to
// trust and a client's certificate. It names no server: [tls.Dial] and its like take that from the address. Without
// [WithTLS] it returns nil.
func (s *Server) ClientTLS() *tls.Config {
	if s.config.certificates == nil {
		return nil
	}
	return s.config.certificates.client()
}

// checkTLS makes sure that the TLS port answers, with our certificate. A standalone server opens it only after the other port,
// which serves by then.
func (s *Server) checkTLS(ctx context.Context) error {
	if s.member.secure == 0 {
		return nil
	}
	conn, err := (&tls.Dialer{Config: s.ClientTLS()}).DialContext(ctx, "tcp", s.TLSAddr())
	if err != nil {
		return s.wrap("TLS", err)
	}
	return conn.Close()
}

// TLSConnectString is ConnectString for clients that speak TLS. It is empty without [WithTLS].
func (e *Ensemble) TLSConnectString() string {
	var addrs []string
	for _, s := range e.Servers {
		if addr := s.TLSAddr(); addr != "" {
			addrs = append(addrs, addr)
		}
	}
	return strings.Join(addrs, ",")
}
