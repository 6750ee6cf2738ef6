package kerberos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jcmturner/gokrb5/v8/credentials"
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
func (m *Mechanism) login(ctx context.Context, talk *conversation) (*ticket, error) {
	if m.config.Keytab == "" {
		_, t, err := readCache(m.config.Cache, m.client)
		if err == nil && !time.Now().Before(t.end) {
			err = fmt.Errorf("the credential cache's ticket expired at %s", t.end.UTC().Format(time.RFC3339))
		}
		return t, err
	}
	keys, err := readKeytab(m.config.Keytab, m.client)
	if err != nil {
		return nil, err
	}
	return talk.login(ctx, keys)
}

// readKeytab returns the keytab, reduced to the client's keys.
func readKeytab(path string, client principal) (*keytab.Keytab, error) {
	all, keys := new(keytab.Keytab), keytab.New()
	if err := readFile(path, all.Unmarshal); err != nil {
		return nil, err
	}
	for _, entry := range all.Entries {
		if entry.Principal.String() == client.String() {
			keys.Entries = append(keys.Entries, entry)
		}
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
	if kind, file, ok := strings.Cut(path, ":"); ok && kind == "FILE" {
		path = file
	}
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

// readFile decodes a file of keys. It drops the decoder's error, in which gokrb5 may quote
// a key.
func readFile(path string, decoder func([]byte) error) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if decode(func() error { return decoder(content) }) != nil {
		return fmt.Errorf("%s: %w", path, errMalformed)
	}
	return nil
}
