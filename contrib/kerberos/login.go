package kerberos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	krb5 "github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// ticket is a ticket with its session key.
type ticket struct {
	messages.Ticket
	key    types.EncryptionKey
	end    time.Time
	proven atomic.Bool // the last server that received the ticket has accepted it
}

// login returns a ticket-granting ticket. It reads the file each time, because keytabs and
// credential caches are replaced while programs run.
func (c *conversation) login(ctx context.Context) (*ticket, error) {
	if c.config.Keytab != "" {
		keys, err := readKeytab(c.config.Keytab, c.client)
		if err != nil {
			return nil, err
		}
		return c.grantingTicket(ctx, keys)
	}
	_, t, err := readCache(c.config.Cache, c.client)
	if err == nil && !time.Now().Before(t.end) {
		err = fmt.Errorf("the credential cache's ticket has ended at %s", t.end.UTC().Format(time.RFC3339))
	}
	return t, err
}

// readKeytab returns the keytab with the client's newest keys alone: the keys of the highest
// version. gokrb5 takes the key with the latest time, but times may be equal or missing.
func readKeytab(path string, client principal) (*keytab.Keytab, error) {
	all, keys, newest := new(keytab.Keytab), keytab.New(), uint32(0)
	if err := readFile(path, all.Unmarshal); err != nil {
		return nil, err
	}
	for _, entry := range all.Entries {
		if entry.Principal.String() != client.String() || entry.KVNO < newest {
			continue
		}
		if entry.KVNO > newest {
			newest, keys.Entries = entry.KVNO, nil
		}
		keys.Entries = append(keys.Entries, entry)
	}
	if len(keys.Entries) == 0 {
		return nil, fmt.Errorf("the keytab %s has no key of %s", path, client)
	}
	return keys, nil
}

// readCache returns a credential cache's principal and ticket-granting ticket. The
// principal is the client, unless the client is empty.
func readCache(path string, client principal) (owner principal, t *ticket, err error) {
	path = cmp.Or(path, os.Getenv("KRB5CCNAME"), "/tmp/krb5cc_"+strconv.Itoa(os.Getuid()))
	var cache credentials.CCache
	t = new(ticket)
	err = readFile(path, func(content []byte) error {
		if err := cache.Unmarshal(content); err != nil {
			return err
		}
		owner = principal{cache.GetClientPrincipalName().PrincipalNameString(), cache.GetClientRealm()}
		entry, ok := cache.GetEntry(grantingService(owner.realm))
		if !ok {
			return errMalformed
		}
		t.key, t.end = entry.Key, entry.EndTime
		return t.Unmarshal(entry.Ticket)
	})
	if err == nil && client.name != "" && client != owner {
		err = fmt.Errorf("the credential cache %s belongs to %s, not to %s", path, owner, client)
	}
	return owner, t, err
}

// readFile decodes a file of keys. It drops the decoder's error, in which gokrb5 may quote
// a key.
func readFile(path string, decoder func([]byte) error) error {
	content, err := os.ReadFile(strings.TrimPrefix(path, "FILE:"))
	if err == nil && decode(func() error { return decoder(content) }) != nil {
		err = fmt.Errorf("%s: %w", path, errMalformed)
	}
	return err
}

// defaults are MIT's. gokrb5 has others.
const defaults = `[libdefaults]
dns_lookup_kdc = true
permitted_enctypes = aes256-cts aes128-cts aes256-sha2 aes128-sha2 arcfour-hmac
default_tkt_enctypes =
default_tgs_enctypes =
`

// nestedBlock is a block within a block, and the beginning of the outer one. gokrb5 panics
// at nested blocks, and needs none of them.
var nestedBlock = regexp.MustCompile(`(\{[^{}]*\n)[^{}\n#;]*\{[ \t\r]*\n[^{}]*\}[ \t\r]*\n`)

// readConfig reads krb5.conf.
func readConfig() (conf *krb5.Config, err error) {
	path, _, _ := strings.Cut(cmp.Or(os.Getenv("KRB5_CONFIG"), "/etc/krb5.conf"), string(os.PathListSeparator))
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := defaults + string(content)
	for nestedBlock.MatchString(text) {
		text = nestedBlock.ReplaceAllString(text, "$1")
	}
	err = decode(func() (err error) {
		conf, err = krb5.NewFromString(text)
		return err
	})
	if conf == nil { // with a conf, the error is about settings of Kerberos 4
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := &conf.LibDefaults
	if len(d.DefaultTktEnctypes) == 0 {
		d.DefaultTktEnctypeIDs = d.PermittedEnctypeIDs
	}
	if len(d.DefaultTGSEnctypes) == 0 {
		d.DefaultTGSEnctypeIDs = d.PermittedEnctypeIDs
	}
	// Sessions of DES and RC4 have other tokens than the tokens of RFC 4121.
	d.DefaultTGSEnctypeIDs = slices.DeleteFunc(slices.Clone(d.DefaultTGSEnctypeIDs), func(etype int32) bool {
		return etype < etypeID.AES128_CTS_HMAC_SHA1_96 || etype > etypeID.AES256_CTS_HMAC_SHA384_192
	})
	return conf, nil
}

var errMalformed = errors.New("malformed")

// decode runs gokrb5's code on untrusted bytes. Some of that code panics if a part of a
// message is too short.
func decode(decoder func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errMalformed
		}
	}()
	return decoder()
}
