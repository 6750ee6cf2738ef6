package zktest

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// The JDK's client is authenticated by this server as by the JDK's, and what the JDK's
// server refuses is refused. Record.java, beside the recordings, has made them.
func TestSASLServerIsTheOneOfTheJDK(t *testing.T) {
	data, err := os.ReadFile("../../framework/sasl/testdata/digest-md5.jsonl")
	require.NoError(t, err)
	exchanges := 0
	for line := range bytes.Lines(data) {
		var r struct{ Kind, Name, User, Password, Challenge, Response, Proof, Error string }
		require.NoError(t, json.Unmarshal(line, &r))
		if r.Kind == "challenged" {
			continue
		}
		exchanges++
		challenge, ok := parseDigestResponse(r.Challenge)
		require.True(t, ok)
		s := &digestServer{nonce: challenge["nonce"]}
		proof, ok := s.step(saslUsers{r.User: r.Password}, toLatin1(r.Response))
		require.Equal(t, r.Error == "", ok, "%s %s: %s", r.Name, r.User, r.Error)
		require.Equal(t, ok, s.succeeded())
		if r.Kind == "exchange" {
			require.Equal(t, r.Proof, proof)
			require.Equal(t, r.User, s.user)
		}
		_, ok = s.step(saslUsers{r.User: r.Password}, toLatin1(r.Response))
		require.False(t, ok, "the same response again")
	}
	require.Greater(t, exchanges, 10)
}

func TestRequiredSASLRefusesEverythingElse(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		for _, op := range []wire.Op{wire.OpGetData, wire.OpPing, wire.OpCloseSession, wire.Op(99)} {
			c := login(t, srv)
			require.Equal(t, wire.OK, c.call(wire.OpAuth, 0, "digest", []byte("joe:secret")).code)
			require.Equal(t, wire.ErrSessionRequiresSASL, c.call(op, "/", false).code)
			_, err := wire.ReadFrame(c.nc)
			require.Error(t, err)
		}
	}, WithSASLUser("joe", "secret"), zkinside.With(zkinside.Settings{RequiredSASL: true}).(Option))
}

func TestSASLWithoutUsersSaysNothing(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		r := login(t, srv).call(wire.OpSASL, []byte{})
		require.Equal(t, wire.OK, r.code)
		require.Nil(t, r.body.Buffer())
		require.NoError(t, r.body.Err)
	})
}

func TestSASLOptionsThatMakeNoSense(t *testing.T) {
	for _, opts := range [][]Option{{WithSASLUser("", "x")}, {WithSASLUser("joe@R", "x")}, {zkinside.With(zkinside.Settings{RequiredSASL: true}).(Option)}} {
		_, err := Run(opts...)
		require.Error(t, err)
	}
}
