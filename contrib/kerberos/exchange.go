package kerberos

import (
	"bytes"
	"encoding/asn1"
	"encoding/binary"
	"errors"

	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// exchange is one authentication: AP-REQ and AP-REP establish the context (RFC 4121), and
// two wrap tokens agree that there is no security layer (RFC 4752).
type exchange struct {
	ticket        *ticket
	authenticator types.Authenticator
	next          func(*exchange, []byte) ([]byte, bool, error)

	key      types.EncryptionKey // for wrap tokens: the server's subkey, or else the session key
	flags    byte                // for wrap tokens
	sequence uint64              // of the server's wrap token
}

// A token begins with the mechanism's object identifier, 1.2.840.113554.1.2.2 (RFC 2743,
// section 3.1), and two bytes for the type of the token (RFC 4121, section 4.1).
var (
	apReq = []byte{6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2, 1, 0}
	apRep = []byte{6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2, 2, 0}
)

// These are the flags of wrap tokens (RFC 4121, section 4.2.2) and the layers of RFC
// 4752.
const (
	sentByAcceptor = 1
	acceptorSubkey = 4
	noLayer        = 1
)

const contextFlags = gssapi.ContextFlagMutual | gssapi.ContextFlagReplay |
	gssapi.ContextFlagSequence | gssapi.ContextFlagInteg

var errProtocol = errors.New("the server does not speak GSSAPI with Kerberos 5")

// newExchange returns an exchange and its first message, the AP-REQ.
func newExchange(client principal, t *ticket) (*exchange, []byte, error) {
	name := types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, client.name)
	authenticator, err := types.NewAuthenticator(client.realm, name)
	if err != nil {
		return nil, nil, err
	}
	// RFC 4121, section 4.1.1: the length of channel bindings, none of these, and flags.
	sum := binary.LittleEndian.AppendUint32(append([]byte{16, 0, 0, 0}, make([]byte, 16)...), contextFlags)
	authenticator.Cksum = types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: sum}
	request, err := messages.NewAPReq(t.Ticket, t.key, authenticator)
	if err != nil {
		return nil, nil, err
	}
	types.SetFlag(&request.APOptions, flags.APOptionMutualRequired)
	body, err := request.Marshal()
	if err != nil {
		return nil, nil, err
	}
	token := asn1tools.AddASNAppTag(append(bytes.Clone(apReq), body...), 0)
	return &exchange{ticket: t, authenticator: authenticator, next: (*exchange).establish, key: t.key}, token, nil
}

// Step implements sasl.Exchange.
func (e *exchange) Step(challenge []byte) (response []byte, done bool, err error) {
	err = decode(func() error {
		response, done, err = e.next(e, challenge)
		return err
	})
	return response, done, err
}

// establish checks the AP-REP: only a server that has the key can repeat the
// authenticator's time.
func (e *exchange) establish(challenge []byte) ([]byte, bool, error) {
	var token asn1.RawValue
	rest, err := asn1.Unmarshal(challenge, &token)
	body, isReply := bytes.CutPrefix(token.Bytes, apRep)
	var reply messages.APRep
	if err != nil || len(rest) > 0 || token.FullBytes[0] != 0x60 || !isReply || reply.Unmarshal(body) != nil {
		return nil, false, errProtocol
	}
	var part messages.EncAPRepPart
	plain, err := crypto.DecryptEncPart(reply.EncPart, e.ticket.key, keyusage.AP_REP_ENCPART)
	if err != nil || part.Unmarshal(plain) != nil ||
		part.CTime.Unix() != e.authenticator.CTime.Unix() || part.Cusec != e.authenticator.Cusec {
		return nil, false, errors.New("the server has not proved that it has the key of its principal")
	}
	if len(part.Subkey.KeyValue) > 0 {
		e.key, e.flags = part.Subkey, acceptorSubkey
	}
	e.sequence = uint64(uint32(part.SequenceNumber))
	e.ticket.proven.Store(true)
	e.next = (*exchange).negotiate
	return []byte{}, false, nil
}

// negotiate declines all security layers that the server offers. The answer's first byte
// is the layer, and the next three bytes are the maximum size of messages, which is 0
// without a layer. No identity follows, so the client acts as its principal.
func (e *exchange) negotiate(challenge []byte) ([]byte, bool, error) {
	var token gssapi.WrapToken
	if token.Unmarshal(challenge, true) != nil || len(token.Payload) != 4 ||
		token.Flags != sentByAcceptor|e.flags || token.SndSeqNum != e.sequence {
		return nil, false, errProtocol
	}
	if ok, _ := token.Verify(e.key, keyusage.GSSAPI_ACCEPTOR_SEAL); !ok { // the error would reveal the right checksum
		return nil, false, errors.New("the checksum of the server's message is wrong")
	}
	if token.Payload[0]&noLayer == 0 {
		return nil, false, errors.New("the server demands a security layer, which ZooKeeper does not have")
	}
	answer := gssapi.WrapToken{
		Flags:     e.flags,
		EC:        token.EC,
		SndSeqNum: uint64(e.authenticator.SeqNumber),
		Payload:   []byte{noLayer, 0, 0, 0},
	}
	if err := answer.SetCheckSum(e.key, keyusage.GSSAPI_INITIATOR_SEAL); err != nil {
		return nil, false, err
	}
	e.next = func(*exchange, []byte) ([]byte, bool, error) { return nil, false, errProtocol }
	response, err := answer.Marshal()
	return response, err == nil, err
}
