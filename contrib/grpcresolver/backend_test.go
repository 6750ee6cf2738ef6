package grpcresolver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// desc is a service with one method, which answers with the name of the
// backend. It needs no generated code.
var desc = grpc.ServiceDesc{
	ServiceName: "test.Orders", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Who", Handler: who}},
}

func who(backend any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	if err := decode(&emptypb.Empty{}); err != nil {
		return nil, err
	}
	name, err := backend.(answer)()
	return wrapperspb.String(name), err
}

// answer is what a backend answers calls with.
type answer func() (string, error)

// ask returns the name of the backend that answers a call.
func ask(ctx context.Context, conn *grpc.ClientConn, opts ...grpc.CallOption) (string, error) {
	var name wrapperspb.StringValue
	err := conn.Invoke(ctx, "/test.Orders/Who", &emptypb.Empty{}, &name, opts...)
	return name.Value, err
}

// balanced is a service config: all backends in turn, and another attempt for
// calls that a backend has not answered.
const balanced = `{
	"loadBalancingConfig": [{"round_robin": {}}],
	"methodConfig": [{"name": [{}], "retryPolicy": {
		"maxAttempts": 4, "initialBackoff": "0.01s", "maxBackoff": "0.1s", "backoffMultiplier": 2,
		"retryableStatusCodes": ["UNAVAILABLE"]
	}}]
}`

// authority makes the certificates of servers, and what clients trust.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

var ca = sync.OnceValue(func() authority {
	key, der := sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return authority{certificate, key}
})

// sign makes a certificate, which is valid now and in virtual time.
func sign(template *x509.Certificate, by *authority) (*ecdsa.PrivateKey, []byte) {
	template.SerialNumber = big.NewInt(1)
	template.NotBefore, template.NotAfter = time.Unix(0, 0), time.Unix(1<<32, 0)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	if by == nil {
		by = &authority{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.certificate, &key.PublicKey, by.key)
	if err != nil {
		panic(err)
	}
	return key, der
}

// forName returns what a server with a name presents.
func (a authority) forName(name string) credentials.TransportCredentials {
	key, der := sign(&x509.Certificate{DNSNames: []string{name}}, &a)
	return credentials.NewServerTLSFromCert(&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key})
}

// trusted returns what a client verifies.
func (a authority) trusted() credentials.TransportCredentials {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return credentials.NewClientTLSFromCert(pool, "")
}

// network has backends in memory, and counts the connections to them.
type network struct {
	dials atomic.Int32

	mu        sync.Mutex
	listeners map[string]*bufconn.Listener
}

var errRefused = errors.New("connection refused")

func (n *network) dial(ctx context.Context, address string) (net.Conn, error) {
	n.dials.Add(1)
	n.mu.Lock()
	listener := n.listeners[address]
	n.mu.Unlock()
	if listener == nil {
		return nil, errRefused
	}
	return listener.DialContext(ctx)
}

// serve starts a backend, which is called by its address. The function kills
// it.
func (n *network) serve(t *testing.T, address, certificate string) (kill func()) {
	t.Helper()
	return n.serveWith(t, address, certificate, func() (string, error) { return address, nil })
}

// serveWith starts a backend that answers with what a function returns.
func (n *network) serveWith(t *testing.T, address, certificate string, with answer) (kill func()) {
	t.Helper()
	return n.serveBy(t, address, newServer(certificate), with)
}

// serveBy is serveWith for a server that the test has made.
func (n *network) serveBy(t *testing.T, address string, server *grpc.Server, with answer) (kill func()) {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	n.mu.Lock()
	if n.listeners == nil {
		n.listeners = map[string]*bufconn.Listener{}
	}
	n.listeners[address] = listener
	n.mu.Unlock()
	return serve(t, listener, server, with, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, address)
	})
}

func newServer(certificate string, opts ...grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(opts, grpc.Creds(ca().forName(certificate)))...)
}

// serve serves until the end of the test, or until it is killed.
func serve(t *testing.T, listener net.Listener, server *grpc.Server, with answer, gone func()) (kill func()) {
	t.Helper()
	server.RegisterService(&desc, with)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	kill = sync.OnceFunc(func() {
		gone()
		server.Stop()
		require.NoError(t, <-done)
	})
	t.Cleanup(kill)
	return kill
}
