//go:build real

package kerberos_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/kerberos"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/testing/curatortest"
)

// startZooKeeper starts a server that lets nobody in without Kerberos. The server itself
// needs no KDC.
func startZooKeeper(k *kdc) *zkserver.Server {
	k.t.Helper()
	keytab := k.keytab("zookeeper/localhost", realm, "aes256-cts")
	return zkserver.Start(k.t,
		zkserver.WithJAAS(k.t, fmt.Sprintf("Server {\n com.sun.security.auth.module.Krb5LoginModule required\n"+
			" useKeyTab=true storeKey=true isInitiator=false keyTab=%q principal=\"zookeeper/localhost\";\n};\n", keytab)),
		zkserver.WithJVMFlags("-Djava.security.krb5.conf="+k.path("krb5.conf")),
		zkserver.WithProperty("enforce.auth.enabled", "true"),
		zkserver.WithProperty("enforce.auth.schemes", "sasl"))
}

// withKeytab is an option for a new principal of the KDC.
func withKeytab(k *kdc, principal string) framework.Option {
	k.t.Helper()
	mechanism, err := kerberos.New(kerberos.Config{Principal: principal, Keytab: k.keytab(principal, realm, "aes256-cts")})
	require.NoError(k.t, err)
	return framework.WithSASL(mechanism)
}

// Promise: ZooKeeper knows a client by its Kerberos principal: clients of that principal
// share a node that no other client may read.
func TestNodeOfAPrincipal(t *testing.T) {
	k := startKDC(t)
	srv, alice := startZooKeeper(k), withKeytab(k, "alice")
	_, err := curatortest.Connect(t, srv, alice).Create(patience(t), "/n", []byte("hers"), framework.WithACL([]zk.ACL{
		{Perms: zk.PermAll, Scheme: "sasl", ID: "alice@" + realm},
	}))
	require.NoError(t, err)
	data, _, err := curatortest.Connect(t, srv, alice).Get(patience(t), "/n")
	require.NoError(t, err)
	require.Equal(t, "hers", string(data))
	_, _, err = curatortest.Connect(t, srv, withKeytab(k, "bob")).Get(patience(t), "/n")
	require.ErrorIs(t, err, zk.ErrNoAuth)
}

// Promise: A session outlives reconnects without a KDC for as long as the server's ticket is
// valid, with its ephemeral nodes.
func TestSessionSurvivesAReconnectWithoutKDC(t *testing.T) {
	k := startKDC(t)
	srv := startZooKeeper(k)
	client := curatortest.Connect(t, srv, withKeytab(k, "alice"), framework.WithSessionTimeout(time.Minute))
	created, err := client.Create(patience(t), "/n", nil, framework.WithMode(framework.Ephemeral))
	require.NoError(t, err)
	session := client.SessionID()
	k.stop()
	require.NoError(t, srv.Restart())
	_, stat, err := client.Get(patience(t), "/n")
	require.NoError(t, err)
	require.Equal(t, session, client.SessionID())
	require.Equal(t, created.Czxid, stat.Czxid)
	require.Equal(t, 1, k.issued("zookeeper/localhost"))
}

// Promise: A client whose keytab the KDC refuses fails at once, and does not go on without
// authentication.
func TestWrongKeytabConnectsNowhere(t *testing.T) {
	k := startKDC(t)
	srv, stale := startZooKeeper(k), withKeytab(k, "stale")
	k.admin(realm, "cpw -randkey -e aes256-cts stale")
	client, err := framework.Connect(patience(t), srv.Addr(), stale)
	require.Nil(t, client)
	var refusal *sasl.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "stale@"+realm, refusal.Principal)
	var cause *kerberos.Error
	require.ErrorAs(t, err, &cause)
	require.EqualValues(t, 24, cause.Code)
	require.ErrorIs(t, err, zk.ErrAuthFailed)

	// And a server whose key is not the KDC's is refused, too.
	k.admin(realm, "cpw -randkey -e aes256-cts zookeeper/localhost")
	_, err = framework.Connect(patience(t), srv.Addr(), withKeytab(k, "alice"))
	require.ErrorAs(t, err, &refusal)
	require.EqualValues(t, -124, refusal.Code)
}
