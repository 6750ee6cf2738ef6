package certmagic_test

import (
	"net/http"
	"os"

	"github.com/caddyserver/certmagic"
	"github.com/go-zookeeper/zk"

	certstore "github.com/gocurator/curator/contrib/certmagic"
	"github.com/gocurator/curator/framework"
)

// All processes of a fleet serve example.com with one certificate.
func Example() {
	if err := serve(http.DefaultServeMux); err != nil {
		panic(err)
	}
}

func serve(mux http.Handler) error {
	client, err := framework.New(os.Getenv("ZOOKEEPER"),
		framework.WithAuth("digest", []byte(os.Getenv("ZOOKEEPER_AUTH")))) // such as web:secret
	if err != nil {
		return err
	}
	defer client.Close()
	certmagic.Default.Storage, err = certstore.New(client, "/certmagic", zk.AuthACL(zk.PermAll))
	if err != nil {
		return err
	}
	return certmagic.HTTPS([]string{"example.com"}, mux)
}

// closed returns a client whose locks are closed to strangers, too.
func closed(servers, credentials string) (*framework.Client, error) {
	acl := func(string) []zk.ACL { return zk.AuthACL(zk.PermAll) }
	return framework.New(servers, framework.WithAuth("digest", []byte(credentials)), framework.WithACLProvider(acl))
}

var _ = closed
