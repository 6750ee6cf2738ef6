package kerberos

import (
	"bytes"
	"encoding/asn1"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/types"
	"github.com/stretchr/testify/require"
)

// vector is an exchange that the JDK's server, testdata/SaslPeer.java, has accepted: for each
// encryption type one without and one with -Dsun.security.krb5.acceptor.subkey=true.
type vector struct {
	Type         int32 // of the session key
	Key          []byte
	Time         int64 // of the authenticator, in seconds
	Microseconds int
	Sequence     int64
	Reply, Offer []byte // from the server
	Answer       []byte
}

func vectors(t testing.TB) (all []vector) {
	t.Helper()
	content, err := os.ReadFile("testdata/jdk.jsonl")
	require.NoError(t, err)
	for line := range bytes.Lines(content) {
		var v vector
		require.NoError(t, json.Unmarshal(line, &v))
		all = append(all, v)
	}
	require.Len(t, all, 8)
	return all
}

// exchange returns the client's side of it, before the server's first message.
func (v vector) exchange() *exchange {
	key := types.EncryptionKey{KeyType: v.Type, KeyValue: v.Key}
	return &exchange{
		ticket:        &ticket{key: key},
		authenticator: types.Authenticator{CTime: time.Unix(v.Time, 0), Cusec: v.Microseconds, SeqNumber: v.Sequence},
		next:          (*exchange).establish,
		key:           key,
	}
}

func TestExchangeWithTheJDK(t *testing.T) {
	for _, v := range vectors(t) {
		e := v.exchange()
		response, done, err := e.Step(v.Reply)
		require.NoError(t, err)
		require.False(t, done)
		require.Equal(t, []byte{}, response, "the empty message is sent")
		require.True(t, e.ticket.proven.Load())
		response, done, err = e.Step(v.Offer)
		require.NoError(t, err)
		require.True(t, done)
		require.Equal(t, v.Answer, response)
		_, done, err = e.Step(nil)
		require.ErrorIs(t, err, errProtocol)
		require.False(t, done)
	}
}

// Only a server that has the key of its principal knows the authenticator's time.
func TestServerWithoutTheKey(t *testing.T) {
	unproven := func(e *exchange, reply []byte) {
		t.Helper()
		response, done, err := e.Step(reply)
		require.Error(t, err)
		require.False(t, done)
		require.Nil(t, response)
		require.False(t, e.ticket.proven.Load())
	}
	for i, v := range vectors(t) {
		other := v
		other.Time++
		unproven(other.exchange(), v.Reply)
		other = v
		other.Microseconds++
		unproven(other.exchange(), v.Reply)
		other = v
		other.Key = bytes.Clone(v.Key)
		other.Key[0]++
		unproven(other.exchange(), v.Reply)
		unproven(v.exchange(), vectors(t)[(i+2)%8].Reply)
		unproven(v.exchange(), v.Offer)
		unproven(v.exchange(), append(bytes.Clone(v.Reply), 0))
		for length := range v.Reply {
			unproven(v.exchange(), v.Reply[:length])
		}
		unproven(v.exchange(), shortReply(t))
	}
}

// shortReply is an AP-REP whose encrypted part is too short for its checksum, so that
// gokrb5 panics.
func shortReply(t *testing.T) []byte {
	t.Helper()
	type encrypted struct {
		Type   int    `asn1:"explicit,tag:0"`
		Cipher []byte `asn1:"explicit,tag:2"`
	}
	inner, err := asn1.Marshal(struct {
		Version int       `asn1:"explicit,tag:0"`
		Kind    int       `asn1:"explicit,tag:1"`
		Part    encrypted `asn1:"explicit,tag:2"`
	}{5, 15, encrypted{18, []byte{1}}})
	require.NoError(t, err)
	application := func(tag int, content []byte) []byte {
		b, err := asn1.Marshal(asn1.RawValue{Class: asn1.ClassApplication, Tag: tag, IsCompound: true, Bytes: content})
		require.NoError(t, err)
		return b
	}
	return application(0, append(bytes.Clone(apRep), application(15, inner)...))
}

// What the server offers is trusted only with the right checksum, flags and sequence number.
func TestOffers(t *testing.T) {
	for _, v := range vectors(t) {
		established := func() *exchange {
			e := v.exchange()
			_, _, err := e.Step(v.Reply)
			require.NoError(t, err)
			return e
		}
		offer := func(change func(*gssapi.WrapToken)) []byte {
			e := established()
			etype, err := crypto.GetEtype(v.Type)
			require.NoError(t, err)
			token := gssapi.WrapToken{
				Flags: 1 | e.flags, EC: uint16(etype.GetHMACBitLength() / 8), SndSeqNum: e.sequence, Payload: []byte{1, 1, 0, 0},
			}
			change(&token)
			require.NoError(t, token.SetCheckSum(e.key, keyusage.GSSAPI_ACCEPTOR_SEAL))
			b, err := token.Marshal()
			require.NoError(t, err)
			return b
		}
		response, done, err := established().Step(offer(func(*gssapi.WrapToken) {}))
		require.NoError(t, err)
		require.True(t, done)
		require.Equal(t, v.Answer, response)

		wrong := bytes.Clone(v.Offer)
		wrong[len(wrong)-1]++
		for text, message := range map[string][]byte{
			"demands a security layer": offer(func(token *gssapi.WrapToken) { token.Payload[0] = 2 | 4 }),
			"the checksum":             wrong,
		} {
			_, done, err := established().Step(message)
			require.ErrorContains(t, err, text)
			require.False(t, done)
		}
		for _, message := range [][]byte{
			nil, {}, v.Reply, v.Answer,
			offer(func(token *gssapi.WrapToken) { token.Payload = token.Payload[:3] }),
			offer(func(token *gssapi.WrapToken) { token.Payload = append(token.Payload, 0) }),
			offer(func(token *gssapi.WrapToken) { token.SndSeqNum++ }),
			offer(func(token *gssapi.WrapToken) { token.Flags ^= acceptorSubkey }),
			offer(func(token *gssapi.WrapToken) { token.Flags ^= sentByAcceptor }),
		} {
			_, done, err := established().Step(message)
			require.ErrorIs(t, err, errProtocol)
			require.False(t, done)
		}
	}
}

// No messages but the server's own end an exchange well.
func FuzzStep(f *testing.F) {
	all := vectors(f)
	for i, v := range all {
		f.Add(uint(i), v.Reply, v.Offer)
	}
	f.Fuzz(func(t *testing.T, i uint, first, second []byte) {
		v := all[i%uint(len(all))]
		e := v.exchange()
		response, done, err := e.Step(first)
		require.False(t, done)
		if err != nil {
			require.Nil(t, response)
			return
		}
		response, done, err = e.Step(second)
		require.Equal(t, err == nil, done)
		if done {
			require.Equal(t, v.Answer, response)
		}
	})
}
