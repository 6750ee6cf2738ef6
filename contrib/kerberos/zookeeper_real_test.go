//go:build real

package kerberos_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/kerberos"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
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

// Promise: Sessions outlive reconnects without a KDC for as long as the server's ticket is
// valid, with their ephemeral nodes. Clients share the ticket, although they connect at the
// same time.
func TestSessionsSurviveAReconnectWithoutKDC(t *testing.T) {
	k := startKDC(t)
	srv, alice := startZooKeeper(k), withKeytab(k, "alice")
	clients := make([]*framework.Client, 4)
	for i := range clients {
		client, err := framework.New(srv.Addr(), alice, framework.WithSessionTimeout(time.Minute))
		require.NoError(t, err)
		t.Cleanup(func() { client.Close() })
		clients[i] = client
	}
	var sessions, zxids []int64
	for i, client := range clients {
		created, err := client.Create(patience(t), fmt.Sprint("/", i), nil, framework.WithMode(framework.Ephemeral))
		require.NoError(t, err)
		sessions, zxids = append(sessions, client.SessionID()), append(zxids, created.Czxid)
	}
	k.stop()
	require.NoError(t, srv.Restart())
	for i, client := range clients {
		_, stat, err := client.Get(patience(t), fmt.Sprint("/", i))
		require.NoError(t, err)
		require.Equal(t, sessions[i], client.SessionID())
		require.Equal(t, zxids[i], stat.Czxid)
	}
}

// Promise: Java Curator and Go share a lock under an access control list of a principal, to
// which another principal has no access.
func TestLockIsSharedWithJavaCurator(t *testing.T) {
	k := startKDC(t)
	srv, alice := startZooKeeper(k), k.keytab("alice", realm, "aes256-cts")
	mechanism, err := kerberos.New(kerberos.Config{Principal: "alice", Keytab: alice})
	require.NoError(t, err)
	onlyAlice := []zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: "alice@" + realm}}
	client := curatortest.Connect(t, srv, framework.WithSASL(mechanism),
		framework.WithACLProvider(func(string) []zk.ACL { return onlyAlice }))
	stranger := locks.NewInterProcessMutex(curatortest.Connect(t, srv, withKeytab(k, "bob")), "/lock")

	k.write("jaas", fmt.Sprintf("Client {\n com.sun.security.auth.module.Krb5LoginModule required"+
		" useKeyTab=true storeKey=true keyTab=%q principal=\"alice\";\n};\n", alice))
	flags := []string{"-Djava.security.auth.login.config=" + k.path("jaas"), "-Dpeer.private=true"}
	java := startJava(t, flags, "Peer", srv.Addr(), "60000")
	java.answer("0 ok")
	for range 2 {
		java.ask("ok ", "acquire thread /lock 60000")
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err = locks.NewInterProcessMutex(client, "/lock").Acquire(soon)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded, "Java holds the lock")
		java.ask("ok", "release thread")

		lease, err := locks.NewInterProcessMutex(client, "/lock").Acquire(patience(t))
		require.NoError(t, err)
		acl, _, err := client.GetACL(patience(t), lease.Path())
		require.NoError(t, err)
		require.Equal(t, onlyAlice, acl)
		java.ask("timeout", "acquire thread /lock 1000")
		_, err = stranger.Acquire(patience(t))
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.NoError(t, lease.Release(patience(t)))
	}
	acl, _, err := client.GetACL(patience(t), "/lock")
	require.NoError(t, err)
	require.Equal(t, onlyAlice, acl, "of the node that Java made")
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
