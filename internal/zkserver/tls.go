package zkserver

import (
	"context"
	"crypto/tls"
)

// WithTLS opens a second port on each server, for clients that speak TLS; see
// [Server.TLSAddr]. The first port does not change. Each Run makes a
// certificate authority in memory, which is valid for a day. It signs one
// certificate for the servers, valid for 127.0.0.1, ::1 and localhost, and one
// for clients; see [Server.ClientTLS].
//
// The argument auth sets the servers' demand for client certificates. ZooKeeper
// supports three values: tls.RequireAndVerifyClientCert, which is its own default,
// tls.VerifyClientCertIfGiven and tls.NoClientCert. Any other value is an error. A
// client that has presented its certificate has the certificate's subject as its
// identity in the scheme x509.
func WithTLS(auth tls.ClientAuthType) Option {
	return func(c *config) { c.tlsAuth = &auth }
}

// clientAuth maps to the values of ssl.clientAuth.
var clientAuth = map[tls.ClientAuthType]string{
	tls.NoClientCert:               "none",
	tls.VerifyClientCertIfGiven:    "want",
	tls.RequireAndVerifyClientCert: "need",
}

// tlsProperties returns the properties of zoo.cfg for TLS. ZooKeeper supports
// TLS only on Netty's connections, so these serve both ports.
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

// TLSAddr returns the address for clients that speak TLS, such as
// 127.0.0.1:20182. Without [WithTLS] it is empty.
func (s *Server) TLSAddr() string {
	if s.member.secure == 0 {
		return ""
	}
	return s.member.secureAddr()
}

// ClientTLS returns the configuration for a client of the server at TLSAddr:
// the authority to trust and a client certificate. Each call returns a new
// value. It has no ServerName, which [tls.Dial] and similar functions take from
// the address. Without [WithTLS] it returns nil.
func (s *Server) ClientTLS() *tls.Config {
	if s.config.certificates == nil {
		return nil
	}
	return s.config.certificates.client()
}

// checkTLS makes sure that the TLS port answers with this server's certificate. A
// standalone server opens that port only after the other one, which serves by then.
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
