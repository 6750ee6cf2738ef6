//go:build real

package kerberos_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/kerberos"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/thorough"
)

func patience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// The JDK's server accepts a client whose session has any of these encryption types,
// with the session's key and with a subkey.
func TestJDKAcceptsEachEncryptionType(t *testing.T) {
	k := startKDC(t)
	for i, c := range []struct{ permitted, client, server string }{
		{"aes256-cts-hmac-sha1-96", "aes256-cts-hmac-sha1-96", "aes256-cts-hmac-sha1-96"},
		{"aes128-cts-hmac-sha1-96", "aes128-cts-hmac-sha1-96", "aes128-cts-hmac-sha1-96"},
		{"aes256-cts-hmac-sha384-192", "aes256-cts-hmac-sha384-192", "aes256-cts-hmac-sha384-192"},
		{"aes128-cts-hmac-sha256-128", "aes128-cts-hmac-sha256-128", "aes128-cts-hmac-sha256-128"},
		// Sessions of RC4 have other tokens, and the keytab has no key of the first types.
		{"arcfour-hmac " + allTypes, "aes128-cts-hmac-sha1-96", "aes128-cts-hmac-sha1-96 arcfour-hmac"},
	} {
		t.Run(c.permitted, func(t *testing.T) {
			k.configure(c.permitted, k.address)
			service, client := fmt.Sprintf("zookeeper%d", i), fmt.Sprintf("alice%d", i)
			keytab := k.keytab(service+"/localhost", realm, c.server)
			mechanism, err := kerberos.New(kerberos.Config{Principal: client, Keytab: k.keytab(client, realm, c.client), ServiceName: service})
			require.NoError(t, err)
			for _, subkey := range []string{"false", "true"} {
				server := startPeer(t, keytab, service+"/localhost@"+realm, "-Dsun.security.krb5.acceptor.subkey="+subkey)
				exchange, first, err := mechanism.Start(patience(t), "127.0.0.1")
				require.NoError(t, err)
				require.Equal(t, "OK "+mechanism.Principal(), server.complete(exchange, first))
			}
		})
	}
}

// The KDC that the client asks refuses each of these, and the client gives up.
func TestRefusals(t *testing.T) {
	k := startKDC(t)
	k.keytab("zookeeper/localhost", realm, "aes256-cts")
	alice := k.keytab("alice", realm, "aes256-cts")
	stale := k.keytab("stale", realm, "aes256-cts")
	k.admin(realm, "cpw -randkey -e aes256-cts stale")
	gone := k.keytab("gone", realm, "aes256-cts")
	k.admin(realm, "delprinc -force gone")
	for _, c := range []struct {
		principal, keytab, server string
		code                      int32
		text                      string
	}{
		{"stale", stale, "zookeeper/localhost", 24, "KDC_ERR_PREAUTH_FAILED"},
		{"gone", gone, "zookeeper/localhost", 6, "KDC_ERR_C_PRINCIPAL_UNKNOWN"},
		{"alice", alice, "zookeeper/elsewhere", 7, "KDC_ERR_S_PRINCIPAL_UNKNOWN"},
	} {
		t.Run(c.text, func(t *testing.T) {
			mechanism, err := kerberos.New(kerberos.Config{Principal: c.principal, Keytab: c.keytab, ServerPrincipal: c.server})
			require.NoError(t, err)
			_, _, err = mechanism.Start(patience(t), "localhost")
			var refusal *sasl.Error
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, "GSSAPI", refusal.Mechanism)
			require.Equal(t, c.principal+"@"+realm, refusal.Principal)
			var cause *kerberos.Error
			require.ErrorAs(t, err, &cause)
			require.Equal(t, kerberos.Error{
				Principal: c.principal + "@" + realm, Server: c.server + "@" + realm, KDC: k.address, Code: c.code, Err: cause.Err,
			}, *cause)
			require.ErrorContains(t, err, c.text)
		})
	}
}

// authenticate plays an exchange to its end.
func authenticate(t *testing.T, mechanism *kerberos.Mechanism, server *peer) {
	t.Helper()
	exchange, first, err := mechanism.Start(patience(t), "localhost")
	require.NoError(t, err)
	require.Equal(t, "OK "+mechanism.Principal(), server.complete(exchange, first))
}

// A ticket serves without a KDC until it ends, and a new one is fetched then. KDCs that are
// away are no refusal: the client tries again.
func TestKDCIsAway(t *testing.T) {
	k := startKDC(t)
	server := startPeer(t, k.keytab("zookeeper/localhost", realm, "aes256-cts"), "zookeeper/localhost@"+realm)
	alice, err := kerberos.New(kerberos.Config{Principal: "alice", Keytab: k.keytab("alice", realm, "aes256-cts")})
	require.NoError(t, err)
	bob, err := kerberos.New(kerberos.Config{Principal: "bob", Keytab: k.keytab("bob", realm, "aes256-cts")})
	require.NoError(t, err)
	k.admin(realm, `modprinc -maxlife "1 second" bob`)
	authenticate(t, alice, server)
	authenticate(t, bob, server)
	bobEnds := time.After(2 * time.Second)
	require.Equal(t, 2, k.issued("zookeeper/localhost"))

	k.stop()
	authenticate(t, alice, server)
	_, _, err = alice.Start(patience(t), "localhost") // and the connection breaks
	require.NoError(t, err)
	authenticate(t, alice, server)
	<-bobEnds
	_, _, err = bob.Start(patience(t), "localhost")
	var away *kerberos.Error
	require.ErrorAs(t, err, &away)
	require.Equal(t, k.address, away.KDC)
	require.Zero(t, away.Code)
	var refusal *sasl.Error
	require.False(t, errors.As(err, &refusal), err)

	k.start()
	authenticate(t, bob, server)
	authenticate(t, alice, server)
	require.Equal(t, 3, k.issued("zookeeper/localhost"))
}

// A ticket also serves while another client's exchange goes on with it, and the KDC refuses to
// give another ticket, or is silent.
func TestTicketIsShared(t *testing.T) {
	k := startKDC(t)
	server := startPeer(t, k.keytab("zookeeper/localhost", realm, "aes256-cts"), "zookeeper/localhost@"+realm)
	mechanism, err := kerberos.New(kerberos.Config{Principal: "alice", Keytab: k.keytab("alice", realm, "aes256-cts")})
	require.NoError(t, err)
	authenticate(t, mechanism, server)
	twice := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 16*time.Second)
		defer cancel()
		one, first, err := mechanism.Start(ctx, "localhost")
		require.NoError(t, err)
		two, second, err := mechanism.Start(ctx, "localhost")
		require.NoError(t, err)
		require.NoError(t, ctx.Err())
		require.Equal(t, "OK "+mechanism.Principal(), server.complete(one, first))
		require.Equal(t, "OK "+mechanism.Principal(), server.complete(two, second))
	}
	k.admin(realm, "cpw -randkey -e aes256-cts alice")
	twice()
	k.stop()
	silent, err := net.Listen("tcp", k.address)
	require.NoError(t, err)
	defer silent.Close()
	twice()
}

// The KDC refuses a client whose clock is wrong. Here, the time is old because the request
// is late.
func TestClockSkew(t *testing.T) {
	k := startKDC(t)
	keytab := k.keytab("alice", realm, "aes256-cts")
	k.stop()
	k.write("kdc-krb5.conf", "[libdefaults]\nclockskew = 1\n"+krb5Conf(allTypes, k.address))
	k.start()
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer proxy.Close()
	k.configure(allTypes, proxy.Addr().String())
	go func() {
		if client, err := proxy.Accept(); err == nil {
			<-time.After(3 * time.Second)
			forward(client, k.address, func(reply []byte) []byte { return reply })
		}
	}()
	mechanism, err := kerberos.New(kerberos.Config{Principal: "alice", Keytab: keytab})
	require.NoError(t, err)
	_, _, err = mechanism.Start(patience(t), "localhost")
	var refusal *sasl.Error
	require.ErrorAs(t, err, &refusal)
	var cause *kerberos.Error
	require.ErrorAs(t, err, &cause)
	require.EqualValues(t, 37, cause.Code)
	require.ErrorContains(t, err, "KRB_AP_ERR_SKEW")
}

// A keytab serves if its key is right, even if krb5.conf does not mention the type of the key,
// and if a KDC such as Active Directory gives the key another version than the keytab.
func TestKeytabMadeByHand(t *testing.T) {
	k := startKDC(t)
	k.keytab("zookeeper/localhost", realm, "aes256-cts")
	keytab := k.keytab("alice", realm, "aes256-sha2")
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer proxy.Close()
	k.configure("", proxy.Addr().String())
	go func() {
		for range 2 {
			client, err := proxy.Accept()
			if err != nil {
				return
			}
			forward(client, k.address, func(reply []byte) []byte {
				var as messages.ASRep
				if as.Unmarshal(reply) == nil {
					as.EncPart.KVNO = 4
					reply, _ = as.Marshal()
				}
				return reply
			})
		}
	}()
	mechanism, err := kerberos.New(kerberos.Config{Principal: "alice", Keytab: keytab})
	require.NoError(t, err)
	_, _, err = mechanism.Start(patience(t), "localhost")
	require.NoError(t, err)
}

// The context ends the wait for a KDC that is silent, and a KDC that answers is found
// behind one that is silent.
func TestKDCIsSilent(t *testing.T) {
	k := startKDC(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	k.keytab("zookeeper/localhost", realm, "aes256-cts")
	keytab := k.keytab("alice", realm, "aes256-cts")
	k.configure(allTypes, silent.Addr().String())
	mechanism, err := kerberos.New(kerberos.Config{Principal: "alice", Keytab: keytab})
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		conn, err := silent.Accept()
		if err == nil {
			defer conn.Close()
		}
		_, _ = conn.Read(make([]byte, 1)) // the request has begun
		cancel(&sasl.Error{})             // a cause is no refusal
		<-t.Context().Done()
	}()
	_, _, err = mechanism.Start(ctx, "localhost")
	var away *kerberos.Error
	require.ErrorAs(t, err, &away)
	var refusal *sasl.Error
	require.False(t, errors.As(err, &refusal), err)

	k.configure(allTypes, silent.Addr().String(), k.address)
	mechanism, err = kerberos.New(kerberos.Config{Principal: "alice", Keytab: keytab})
	require.NoError(t, err)
	ctx, cancelLater := context.WithTimeout(t.Context(), 16*time.Second)
	defer cancelLater()
	_, _, err = mechanism.Start(ctx, "localhost")
	require.NoError(t, err)
}

// Somebody on the way to the KDC changes one byte of its replies, or cuts them off. The
// client may notice, and never ends.
func TestRepliesOfTheKDCAreChanged(t *testing.T) {
	k := startKDC(t)
	k.keytab("zookeeper/localhost", realm, "aes256-cts")
	keytab := k.keytab("alice", realm, "aes256-cts")
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer proxy.Close()
	k.configure(allTypes, proxy.Addr().String())
	changes := make(chan func([]byte) []byte, 2) // of the next replies
	go func() {
		for {
			client, err := proxy.Accept()
			if err != nil {
				return
			}
			forward(client, k.address, <-changes)
		}
	}()
	longest := 0
	same := func(reply []byte) []byte {
		longest = max(longest, len(reply))
		return reply
	}
	start := func(as, tgs func([]byte) []byte) error {
		changes <- as
		changes <- tgs
		mechanism, err := kerberos.New(kerberos.Config{Principal: "alice", Keytab: keytab})
		require.NoError(t, err)
		_, _, err = mechanism.Start(patience(t), "localhost")
		for len(changes) > 0 {
			<-changes
		}
		return err
	}
	require.NoError(t, start(same, same))
	refused, tried := 0, 0
	for i := range longest {
		if !thorough.Picked(20, i) {
			continue
		}
		tried += 4
		flip := func(reply []byte) []byte {
			reply[min(i, len(reply)-1)] ^= 0xff
			return reply
		}
		cut := func(reply []byte) []byte { return reply[:min(i, len(reply)-1)] }
		for _, change := range []func([]byte) []byte{flip, cut} {
			for _, err := range []error{start(change, same), start(same, change)} {
				if err != nil {
					refused++
				}
			}
		}
	}
	require.Greater(t, refused, tried/2)
}

// forward forwards one request to the KDC, and a changed reply.
func forward(client net.Conn, kdc string, change func([]byte) []byte) {
	defer client.Close()
	server, err := net.Dial("tcp", kdc)
	if err != nil {
		return
	}
	defer server.Close()
	message := func(from net.Conn) []byte {
		size := make([]byte, 4)
		if _, err := io.ReadFull(from, size); err != nil {
			return nil
		}
		content := make([]byte, binary.BigEndian.Uint32(size))
		_, _ = io.ReadFull(from, content)
		return content
	}
	send := func(to net.Conn, content []byte) {
		_, _ = to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), content...))
	}
	send(server, message(client))
	send(client, change(message(server)))
}

// A ticket that the server has not accepted is not used again, if a KDC has another one.
func TestServerWithAnotherKey(t *testing.T) {
	k := startKDC(t)
	old := k.keytab("zookeeper/localhost", realm, "aes256-cts")
	mechanism, err := kerberos.New(kerberos.Config{Principal: "alice", Keytab: k.keytab("alice", realm, "aes256-cts")})
	require.NoError(t, err)
	authenticate(t, mechanism, startPeer(t, old, "zookeeper/localhost@"+realm))
	k.admin(realm, "cpw -randkey -e aes256-cts zookeeper/localhost")
	k.admin(realm, "ktadd -norandkey -k "+k.path("new.keytab")+" zookeeper/localhost")
	server := startPeer(t, k.path("new.keytab"), "zookeeper/localhost@"+realm)
	_, first, err := mechanism.Start(patience(t), "localhost")
	require.NoError(t, err)
	_, decision := server.respond(first)
	require.True(t, strings.HasPrefix(decision, "ERROR "), decision)
	authenticate(t, mechanism, server)
}

// The client's realm trusts the server's.
func TestServerInAnotherRealm(t *testing.T) {
	k := startKDC(t)
	server := startPeer(t, k.keytab("zookeeper/localhost", "TWO.EXAMPLE", "aes256-cts"), "zookeeper/localhost@TWO.EXAMPLE")
	mechanism, err := kerberos.New(kerberos.Config{
		Principal: "alice@" + realm, Keytab: k.keytab("alice", realm, "aes256-cts"), ServerPrincipal: "zookeeper/localhost@TWO.EXAMPLE",
	})
	require.NoError(t, err)
	authenticate(t, mechanism, server)
}

// A credential cache is read again when a ticket is needed, so that it may be renewed.
func TestCredentialCache(t *testing.T) {
	k := startKDC(t)
	server := startPeer(t, k.keytab("zookeeper/localhost", realm, "aes256-cts"), "zookeeper/localhost@"+realm)
	alice, bob := k.keytab("alice", realm, "aes256-cts"), k.keytab("bob", realm, "aes256-cts")
	t.Setenv("KRB5CCNAME", "FILE:"+k.path("cache"))
	k.run("kinit", "-l", "2s", "-k", "-t", alice, "alice")
	ends := time.After(3 * time.Second)
	mechanism, err := kerberos.New(kerberos.Config{})
	require.NoError(t, err)
	require.Equal(t, "alice@"+realm, mechanism.Principal())
	refused := func(text string) {
		t.Helper()
		_, _, err := mechanism.Start(patience(t), "localhost")
		var refusal *sasl.Error
		require.ErrorAs(t, err, &refusal)
		require.ErrorContains(t, err, text)
	}
	<-ends
	refused("has ended at")
	k.run("kinit", "-k", "-t", bob, "bob")
	refused("belongs to bob@" + realm + ", not to alice@" + realm)
	k.run("kinit", "-k", "-t", alice, "alice")
	authenticate(t, mechanism, server)
	content, err := os.ReadFile(k.path("cache"))
	require.NoError(t, err)
	for length := range content {
		require.NoError(t, os.WriteFile(k.path("cache"), content[:length], 0o600))
		if cut, err := kerberos.New(kerberos.Config{}); err == nil {
			require.Equal(t, "alice@"+realm, cut.Principal(), "between two entries")
		}
	}
}
