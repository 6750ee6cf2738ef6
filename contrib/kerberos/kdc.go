package kerberos

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

const (
	maxReply   = 1 << 20          // the limit of a KDC's reply, in bytes
	maxRealms  = 5                // the limit of realms on the way to the server's realm
	kdcTimeout = 10 * time.Second // for each KDC, if the context has no deadline
)

// conversation gets one service ticket from the KDCs. It uses gokrb5's messages but not
// gokrb5's client, which ignores contexts, starts goroutines, and takes the first
// encryption type that a KDC proposes, even if the keytab has no key of that type.
type conversation struct {
	*Mechanism

	asked []string // the addresses of KDCs
	code  int32    // the error code of the last one
	away  bool     // no KDC has decided
	spare int      // shares of the time that the KDCs leave
}

// grantingTicket gets a ticket-granting ticket by the AS exchange (RFC 4120, section 3.1). An
// encrypted time proves to the KDC that the client has the key (section 5.2.7.2).
func (c *conversation) grantingTicket(ctx context.Context, keys *keytab.Keytab) (*ticket, error) {
	name := types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, c.client.name)
	request, err := messages.NewASReqForTGT(c.client.realm, c.krb5, name)
	if err != nil {
		return nil, err
	}
	request.ReqBody.EType = slices.DeleteFunc(slices.Clone(request.ReqBody.EType), func(etype int32) bool {
		_, _, err := keys.GetEncryptionKey(name, c.client.realm, 0, etype)
		return err != nil
	})
	if len(request.ReqBody.EType) == 0 {
		return nil, errors.New("the keytab has no key of an encryption type that krb5.conf permits")
	}
	key, version, _ := keys.GetEncryptionKey(name, c.client.realm, 0, request.ReqBody.EType[0])
	now, err := types.GetPAEncTSEncAsnMarshalled()
	if err != nil {
		return nil, err
	}
	sealed, err := crypto.GetEncryptedData(now, key, keyusage.AS_REQ_PA_ENC_TIMESTAMP, version)
	if err != nil {
		return nil, err
	}
	proof, err := sealed.Marshal()
	if err != nil {
		return nil, err
	}
	request.PAData = types.PADataSequence{{PADataType: patype.PA_ENC_TIMESTAMP, PADataValue: proof}}
	var as messages.ASRep
	err = c.exchange(ctx, c.client.realm, &request, func(reply []byte) error {
		if err := as.Unmarshal(reply); err != nil {
			return err
		}
		as.EncPart.KVNO = 0 // like kinit: keytabs made by hand have the right key by another number
		_, err := as.Verify(c.krb5, credentials.New(c.client.name, c.client.realm).WithKeytab(keys), request)
		return err
	})
	return granted(as.KDCRepFields), err
}

// serviceTicket gets a ticket for a server by TGS exchanges (RFC 4120, section 3.3). If
// the server is in another realm, the KDC of one realm grants a ticket for the KDC of the
// next one.
func (c *conversation) serviceTicket(ctx context.Context, t *ticket, server principal) (*ticket, error) {
	client, realm := types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, c.client.name), c.client.realm
	for range maxRealms {
		want := grantingService(server.realm)
		if realm == server.realm {
			want = types.NewPrincipalName(nametype.KRB_NT_SRV_HST, server.name)
		}
		request, err := messages.NewTGSReq(client, realm, c.krb5, t.Ticket, t.key, want, false)
		if err != nil {
			return nil, err
		}
		var tgs messages.TGSRep
		err = c.exchange(ctx, realm, &request, func(reply []byte) error {
			if err := tgs.Unmarshal(reply); err != nil {
				return err
			}
			if err := tgs.DecryptEncPart(t.key); err != nil {
				return err
			}
			_, err := tgs.Verify(c.krb5, request)
			return err
		})
		if err != nil {
			return nil, err
		}
		t = granted(tgs.KDCRepFields)
		name := tgs.DecryptedEncPart.SName.NameString
		if len(name) != 2 || name[0] != "krbtgt" {
			return t, nil
		}
		if realm == server.realm { // the KDC refers to the realm that has the server
			server.realm = name[1]
		}
		realm = name[1]
	}
	return nil, fmt.Errorf("the path to the server's realm has more than %d realms", maxRealms)
}

// granted is the ticket of a KDC's reply.
func granted(reply messages.KDCRepFields) *ticket {
	return &ticket{Ticket: reply.Ticket, key: reply.DecryptedEncPart.Key, end: reply.DecryptedEncPart.EndTime}
}

// exchange asks one KDC of the realm after the other, until one decides.
func (c *conversation) exchange(
	ctx context.Context, realm string, request interface{ Marshal() ([]byte, error) }, decoder func([]byte) error,
) error {
	message, err := request.Marshal()
	if err != nil {
		return err
	}
	kdcs, err := c.kdcs(ctx, realm)
	if c.away = true; err == nil && len(kdcs) == 0 {
		c.away, err = false, fmt.Errorf("neither krb5.conf nor DNS has a KDC of %s", realm)
	}
	for i, address := range kdcs {
		if !slices.Contains(c.asked, address) {
			c.asked = append(c.asked, address)
		}
		var reply []byte
		if reply, err = roundTrip(ctx, address, message, len(kdcs)-i+c.spare); err != nil {
			continue
		}
		var refusal messages.KRBError
		if refusal.Unmarshal(reply) != nil {
			c.away, c.code = false, 0
			return decoder(reply)
		}
		c.code, err = refusal.ErrorCode, fmt.Errorf("%s %.100q", errorcode.Lookup(refusal.ErrorCode), refusal.EText)
		if c.code != errorcode.KDC_ERR_SVC_UNAVAILABLE && c.code != errorcode.KRB_ERR_GENERIC {
			c.away = false
			break
		}
	}
	return err
}

// kdcs returns the addresses of a realm's KDCs, if it has any.
func (m *Mechanism) kdcs(ctx context.Context, realm string) (kdcs []string, err error) {
	for _, r := range m.krb5.Realms {
		if r.Realm == realm && len(r.KDC) > 0 {
			return r.KDC, nil
		}
	}
	if !m.krb5.LibDefaults.DNSLookupKDC {
		return nil, nil
	}
	_, records, err := m.resolver.LookupSRV(ctx, "kerberos", "tcp", realm+".") // not below a search domain
	for _, r := range records {
		kdcs = append(kdcs, net.JoinHostPort(r.Target, strconv.Itoa(int(r.Port))))
	}
	if unknown, ok := err.(*net.DNSError); ok && unknown.IsNotFound { //nolint:errorlint // net.Resolver wraps none
		err = nil
	}
	return kdcs, err
}

// roundTrip sends a request to a KDC and returns the reply (RFC 4120, section 7.2.2). The
// KDC gets an equal share of the remaining time.
func roundTrip(ctx context.Context, address string, request []byte, shares int) ([]byte, error) {
	limit := kdcTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline) / time.Duration(shares)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	size := binary.BigEndian.AppendUint32(nil, uint32(len(request)))
	if _, err := conn.Write(append(size, request...)); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(conn, size); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(size)
	if length > maxReply {
		return nil, errMalformed
	}
	reply := make([]byte, length)
	_, err = io.ReadFull(conn, reply)
	return reply, err
}
