package kerberos

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/sasl"
)

// write writes a file and returns its path.
func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// keysOf returns a keytab with a key of each principal, and the keys.
func keysOf(t *testing.T, principals ...string) (content string, keys []string) {
	t.Helper()
	tab := keytab.New()
	for _, p := range principals {
		require.NoError(t, tab.AddEntry(p, "HOME", "secret of "+p, time.Now(), 1, etypeID.AES256_CTS_HMAC_SHA1_96))
	}
	b, err := tab.Marshal()
	require.NoError(t, err)
	for _, entry := range tab.Entries {
		keys = append(keys, string(entry.Key.KeyValue))
	}
	return string(b), keys
}

func TestNew(t *testing.T) {
	t.Setenv("KRB5_CONFIG", write(t, "[libdefaults]\ndefault_realm = HOME\n[realms]\nHOME = {\n v4_instance_convert = {\n  a = b\n }\n}\n"))
	content, _ := keysOf(t, "alice", "orders/host1")
	keys := write(t, content)
	for name, want := range map[string]string{"alice": "alice@HOME", "orders/host1@HOME": "orders/host1@HOME"} {
		m, err := New(Config{Principal: name, Keytab: keys})
		require.NoError(t, err)
		require.Equal(t, want, m.Principal())
		require.Equal(t, "GSSAPI", m.Name())
	}
	for text, config := range map[string]Config{
		"has no key of bob@HOME":         {Principal: "bob", Keytab: keys},
		"has no key of alice@AWAY":       {Principal: "alice@AWAY", Keytab: keys},
		`"" is not a principal`:          {Keytab: keys},
		`"alice@" is not a principal`:    {Principal: "alice@", Keytab: keys},
		`"@HOME" is not a principal`:     {Principal: "alice", Keytab: keys, ServerPrincipal: "@HOME"},
		"no such file":                   {Principal: "alice", Keytab: keys + "2"},
		"open KEYRING:persistent:0":      {Cache: "KEYRING:persistent:0"},
		filepath.Base(keys) + ": malfor": {Cache: "FILE:" + keys},
	} {
		_, err := New(config)
		require.ErrorContains(t, err, text)
		var mistake *Error
		require.ErrorAs(t, err, &mistake)
		require.Equal(t, config.Principal, mistake.Principal)
	}
	t.Setenv("KRB5_CONFIG", "/nowhere:/nowhere/else")
	_, err := New(Config{Principal: "alice", Keytab: keys})
	require.EqualError(t, err, "kerberos: open /nowhere: no such file or directory")
}

// A keytab that is being written, or is broken, shows none of its keys.
func TestBrokenKeytabShowsNoKey(t *testing.T) {
	content, keys := keysOf(t, "alice", "bob")
	path := write(t, "")
	for i := range len(content) * 2 {
		broken := []byte(content[:i/2])
		if i%2 == 1 { // one byte of the whole file is wrong
			broken = []byte(content)
			broken[i/2] ^= 0x80
		}
		require.NoError(t, os.WriteFile(path, broken, 0o600))
		_, err := readKeytab(path, principal{"bob", "HOME"})
		for _, key := range keys {
			shown := fmt.Sprintf("%v %+v %s", err, err, err)
			require.NotContains(t, shown, key)
			require.NotContains(t, shown, strings.Trim(fmt.Sprintf("%d", []byte(key)), "[]"))
		}
		if i%2 == 0 {
			require.Error(t, err)
		}
	}
}

// gokrb5 panics at a block within a realm's, which MIT and Java accept.
func TestConfigurationWithNestedBlocks(t *testing.T) {
	t.Setenv("KRB5_CONFIG", write(t, `[realms]
HOME = {
	auth_to_local_names = {
		a = b
	}
	kdc = kdc1
	auth_to_local = {
		RULE
	}
}
AWAY = {
	kdc = kdc2
	auth_to_local = RULE:[1:$1](.{2}x)s/x//
	# auth_to_local = {
}
[domain_realm]
far = AWAY
`))
	content, _ := keysOf(t, "alice")
	m, err := New(Config{Principal: "alice@HOME", Keytab: write(t, content), HostNamesAsGiven: true})
	require.NoError(t, err)
	require.Equal(t, "zookeeper/far@AWAY", m.serverPrincipal(t.Context(), "far").String())
	for realm, want := range map[string]string{"HOME": "kdc1:88", "AWAY": "kdc2:88"} {
		kdcs, err := m.kdcs(t.Context(), realm)
		require.NoError(t, err)
		require.Equal(t, []string{want}, kdcs)
	}
}

// A realm without any KDC is a mistake of the configuration: the client's operations must not
// wait. DNS that does not answer is like a KDC that does not answer.
func TestRealmWithoutKDC(t *testing.T) {
	content, _ := keysOf(t, "alice")
	notFound := &net.DNSError{Err: "no such host", IsNotFound: true}
	for _, c := range []struct {
		config  string
		dns     error
		refused bool
		text    string
	}{
		{"", notFound, true, "neither krb5.conf nor DNS has a KDC of HOME"},
		{"", nil, true, "neither krb5.conf nor DNS has a KDC of HOME"},
		{"", errors.New("DNS is silent"), false, "DNS is silent"},
		{"dns_lookup_kdc = false\n", errors.New("not asked"), true, "neither krb5.conf nor DNS has a KDC of HOME"},
	} {
		t.Setenv("KRB5_CONFIG", write(t, "[libdefaults]\n"+c.config+"[realms]\nHOME = {\n}\n"))
		m, err := New(Config{Principal: "alice@HOME", Keytab: write(t, content), HostNamesAsGiven: true})
		require.NoError(t, err)
		m.resolver = names{srv: c.dns}
		_, _, err = m.Start(t.Context(), "zk1")
		require.ErrorContains(t, err, c.text)
		var refusal *sasl.Error
		require.Equal(t, c.refused, errors.As(err, &refusal), "%+v", c)
		var cause *Error
		require.ErrorAs(t, err, &cause)
		require.Equal(t, Error{Principal: "alice@HOME", Server: "zookeeper/zk1@HOME", Err: cause.Err}, *cause)
	}
}

// The keys of the highest version are the client's, in whichever order and at whichever times
// they have come into the keytab: ktpass gives all keys the time 0.
func TestKeytabWithOldKeys(t *testing.T) {
	for _, versions := range [][]uint8{{1, 2}, {2, 1}} {
		tab := keytab.New()
		add := func(version uint8, etype int32) {
			require.NoError(t, tab.AddEntry("alice", "HOME", fmt.Sprint("secret ", version), time.Unix(0, 0), version, etype))
		}
		for _, v := range versions {
			add(v, etypeID.AES256_CTS_HMAC_SHA1_96)
			if v == 1 { // and the KDC no longer has a key of this type
				add(v, etypeID.AES128_CTS_HMAC_SHA1_96)
			}
		}
		b, err := tab.Marshal()
		require.NoError(t, err)
		keys, err := readKeytab(write(t, string(b)), principal{"alice", "HOME"})
		require.NoError(t, err)
		require.Len(t, keys.Entries, 1)
		require.EqualValues(t, 2, keys.Entries[0].KVNO)
	}
}

// gokrb5 panics at a ticket for nobody, which anybody on the way to the KDC can make of
// another one.
func TestTicketForNobody(t *testing.T) {
	t.Setenv("KRB5_CONFIG", write(t, "[libdefaults]\ndefault_realm = HOME\n"))
	content, _ := keysOf(t, "alice")
	m, err := New(Config{Principal: "alice", Keytab: write(t, content), ServerPrincipal: "zookeeper/zk"})
	require.NoError(t, err)
	broken := &ticket{end: time.Now().Add(time.Hour)}
	broken.proven.Store(true)
	m.tickets.Store(m.server, broken)
	_, _, err = m.Start(t.Context(), "zk")
	require.ErrorIs(t, err, errMalformed)
	var refusal *sasl.Error
	require.ErrorAs(t, err, &refusal)
	require.EqualError(t, err, `SASL GSSAPI as "alice@HOME": kerberos: no ticket of "alice@HOME" for "zookeeper/zk@HOME" (KDC not asked): malformed`)
}
