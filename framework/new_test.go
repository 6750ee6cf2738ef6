package framework

import (
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestConnectStrings(t *testing.T) {
	for _, tc := range []struct {
		in      string
		servers string // separated by spaces
		chroot  string
	}{
		{"zk1", "zk1:2181", ""},
		{"zk1:2182", "zk1:2182", ""},
		{"zk1:2181,zk2,zk3:1/shop/eu", "zk1:2181 zk2:2181 zk3:1", "/shop/eu"},
		{" zk1 , zk2:99 ", "zk1:2181 zk2:99", ""},
		{"zk1/", "zk1:2181", ""},
		{"127.0.0.1:2181/a", "127.0.0.1:2181", "/a"},
		{"[::1]", "[::1]:2181", ""},
		{"[::1]:2182/a", "[::1]:2182", "/a"},
		{"[fe80::1%eth0]:2182", "[fe80::1%eth0]:2182", ""},
		{"zk1:65535", "zk1:65535", ""},
		{"zk1:2181,", "zk1:2181", ""},
		{", zk1,,zk2 ,/shop", "zk1:2181 zk2:2181", "/shop"},
	} {
		servers, chroot, err := parseConnectString(tc.in)
		require.NoError(t, err, tc.in)
		require.Equal(t, tc.servers, strings.Join(servers, " "), tc.in)
		require.Equal(t, tc.chroot, chroot, tc.in)
	}
}

func TestMalformedConnectStringsAreConfigErrors(t *testing.T) {
	for _, in := range []string{
		"", " ", ",", " , ", ",/shop", "/shop", ":2181", "zk1:", "zk1:0", "zk1:65536", "zk1:-1", "zk1:+1", "zk1:http",
		"zk1:1:2", "http://zk1:2181", "[::1", "::1]:2181", "[]:2181", "[]", "zk 1:2181", "zk1\t:1", "zk1:2181//a", "zk1/a/", "zk1/a//b", "zk1/./a", "zk1/\x00",
		"::1", "fe80::2", "2001:db8::1:2181", "fe80::zz", "[fe80::zz]", "[zk1:2181]", "[zk1:2181]:2181", "http://zk1:2181", "zk1:2181/a,zk2:2181/a", "zk1/a,b", "zk1/a,", "zk1/,zk2/",
	} {
		c, err := New(in)
		var ce *ConfigError
		require.ErrorAs(t, err, &ce, "%q", in)
		require.Nil(t, c)
		require.Equal(t, "connection string", ce.Name, "%q", in)
		require.Equal(t, in, ce.Value)
	}
}

func FuzzConnectString(f *testing.F) {
	for _, s := range []string{"zk1:2181,zk2/shop", "[::1]:2181", "::1", "", ",", "a:b:c", "[", "]", "[]:1", "a/b/../c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		servers, chroot, err := parseConnectString(s)
		if err != nil {
			var ce *ConfigError
			require.ErrorAs(t, err, &ce)
			return
		}
		require.NotEmpty(t, servers)
		if chroot != "" {
			require.NoError(t, validatePath(chroot))
		}
		again, _, err := parseConnectString(strings.Join(servers, ","))
		require.NoError(t, err)
		require.Equal(t, servers, again, "what was parsed parses to itself")
	})
}

func TestOptionsThatCannotBeUsedAreConfigErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		opt  Option
		name string
	}{
		"no session timeout":          {WithSessionTimeout(0), "session timeout"},
		"negative session timeout":    {WithSessionTimeout(-time.Second), "session timeout"},
		"tiny session timeout":        {WithSessionTimeout(time.Millisecond), "session timeout"},
		"session timeout in years":    {WithSessionTimeout(1 << 62), "session timeout"},
		"no connection timeout":       {WithConnectionTimeout(0), "connection timeout"},
		"negative connection timeout": {WithConnectionTimeout(-1), "connection timeout"},
		"no dialer":                   {WithDialer(nil), "dialer"},
		"no retry policy":             {WithRetry(nil), "retry policy"},
		"no logger":                   {WithLogger(nil), "logger"},
		"logger without a handler":    {WithLogger(&slog.Logger{}), "logger"},
		"unknown error policy":        {WithErrorPolicy(42), "error policy"},
		"no option":                   {nil, "option"},
		"no tracer":                   {WithHooks(nil), "hook"},
		"nil pointer to a tracer":     {WithHooks((*struct{})(nil)), "hook"},
		"no ACL provider":             {WithACLProvider(nil), "ACL provider"},
		"no servers function":         {WithServers(nil), "servers function"},
		"no TLS configuration":        {WithTLS(nil), "TLS configuration"},
		"negative safety margin":      {WithSafetyMargin(-0.01), "safety margin"},
		"safety margin too large":     {WithSafetyMargin(0.51), "safety margin"},
		"safety margin not a number":  {WithSafetyMargin(math.NaN()), "safety margin"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New("zk1", tc.opt)
			var ce *ConfigError
			require.ErrorAs(t, err, &ce)
			require.Nil(t, c)
			require.Equal(t, tc.name, ce.Name)
			require.NotEmpty(t, ce.Reason)
			require.ErrorContains(t, err, "invalid "+tc.name)
		})
	}
}
