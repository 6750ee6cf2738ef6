// Package caddystorage makes package certmagic the storage of a Caddy server.
// Caddy's module caddy.storage.curator keeps certificates and their locks in
// ZooKeeper, for all servers of a fleet:
//
//	xcaddy build --with github.com/gocurator/curator/contrib/certmagic/caddystorage
//
// In Caddy's configuration:
//
//	"storage": {
//		"module": "curator",
//		"servers": "zk1:2181,zk2:2181,zk3:2181",
//		"auth": "{env.ZOOKEEPER_AUTH}"
//	}
//
// and in a Caddyfile:
//
//	{
//		storage curator {
//			servers zk1:2181,zk2:2181,zk3:2181
//			auth {env.ZOOKEEPER_AUTH}
//		}
//	}
//
// The nodes contain private keys. So the credentials are required, and only clients
// with the same credentials can read the nodes. See package certmagic for the remaining
// risks.
package caddystorage

import (
	"crypto/tls"
	"errors"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/certmagic"
	"github.com/go-zookeeper/zk"

	certstore "github.com/gocurator/curator/contrib/certmagic"
	"github.com/gocurator/curator/framework"
)

func init() { caddy.RegisterModule(Storage{}) }

// Storage is Caddy's module caddy.storage.curator. Caddy fills in the fields from its
// configuration and replaces placeholders such as {env.NAME}.
type Storage struct {
	// Servers is the connection string, such as zk1:2181,zk2:2181/chroot.
	Servers string `json:"servers"`
	// Root is the node below which all values and locks are kept. The default is
	// /caddy.
	Root string `json:"root,omitempty"`
	// Auth is user:password for ZooKeeper's scheme digest. Only clients with the same
	// credentials can read the nodes.
	Auth string `json:"auth"`
	// TLS makes the client use TLS and trust the system's certificates.
	TLS bool `json:"tls,omitempty"`

	shared *connection
}

// connection is shared by all configurations with the same fields, so held locks
// survive a reload.
type connection struct {
	client  *framework.Client
	storage *certstore.Storage
}

var connections = caddy.NewUsagePool()

// CaddyModule implements caddy.Module.
func (Storage) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.storage.curator", New: func() caddy.Module { return new(Storage) }}
}

// Provision implements caddy.Provisioner. Provision does not wait for a connection; the
// first request to the storage does.
func (s *Storage) Provision(caddy.Context) error {
	replace := caddy.NewReplacer()
	s.Servers, s.Auth = replace.ReplaceAll(s.Servers, ""), replace.ReplaceAll(s.Auth, "")
	if s.Root = replace.ReplaceAll(s.Root, ""); s.Root == "" {
		s.Root = "/caddy"
	}
	if s.Auth == "" {
		return errors.New("auth is missing: anyone could read the private keys")
	}
	shared, _, err := connections.LoadOrNew(s.key(), func() (caddy.Destructor, error) { return s.connect() })
	if err == nil {
		s.shared = shared.(*connection)
	}
	return err
}

// key returns equal values for modules that share a connection.
func (s *Storage) key() any {
	return Storage{Servers: s.Servers, Root: s.Root, Auth: s.Auth, TLS: s.TLS}
}

func (s *Storage) connect() (*connection, error) {
	acl := zk.AuthACL(zk.PermAll)
	opts := []framework.Option{
		framework.WithServiceName("caddy"),
		framework.WithAuth("digest", []byte(s.Auth)),
		framework.WithACLProvider(func(string) []zk.ACL { return acl }),
	}
	if s.TLS {
		opts = append(opts, framework.WithTLS(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	client, err := framework.New(s.Servers, opts...)
	if err != nil {
		return nil, err
	}
	storage, err := certstore.New(client, s.Root, acl)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &connection{client, storage}, nil
}

// Destruct implements caddy.Destructor.
func (c *connection) Destruct() error { return c.client.Close() }

// Cleanup implements caddy.CleanerUpper. The last configuration that uses the client
// closes it.
func (s *Storage) Cleanup() error {
	if s.shared == nil {
		return nil
	}
	_, err := connections.Delete(s.key())
	return err
}

// CertMagicStorage implements caddy.StorageConverter.
func (s *Storage) CertMagicStorage() (certmagic.Storage, error) { return s.shared.storage, nil }

// UnmarshalCaddyfile implements caddyfile.Unmarshaler.
func (s *Storage) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	if d.NextArg() {
		return d.ArgErr()
	}
	for d.NextBlock(0) {
		name, value := d.Val(), ""
		if name != "tls" && !d.Args(&value) {
			return d.ArgErr()
		}
		switch name {
		case "servers":
			s.Servers = value
		case "root":
			s.Root = value
		case "auth":
			s.Auth = value
		case "tls":
			s.TLS = true
		default:
			return d.Errf("unrecognized parameter %q", name)
		}
	}
	return nil
}

var (
	_ caddy.Provisioner      = (*Storage)(nil)
	_ caddy.CleanerUpper     = (*Storage)(nil)
	_ caddy.StorageConverter = (*Storage)(nil)
	_ caddyfile.Unmarshaler  = (*Storage)(nil)
)
