package certmagic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/caddyserver/certmagic"
	"golang.org/x/net/idna"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// ErrLockLost means that a lock was lost between Lock and Unlock, so another process
// may have held the lock meanwhile.
var ErrLockLost = errors.New("lock lost")

// lockLost returns the error of a lost lock, with the reason if known.
func lockLost(name string, cause error) error {
	if cause == nil {
		return fmt.Errorf("%w: %q", ErrLockLost, name)
	}
	return fmt.Errorf("%w: %q: %w", ErrLockLost, name, cause)
}

// guard is a lock that guards a key, with the checks that the lock is held.
type guard struct {
	lock   string
	checks []framework.TxnOp
}

// guardsOf returns the locks of this Storage that guard a key, or an error if one of
// these locks is known to be lost.
func (s *Storage) guardsOf(p parts) (guards []guard, lost error) {
	for lock, lease := range s.leasesFor(p) {
		if cause := context.Cause(lease.Context()); cause != nil {
			return nil, lockLost(lock, cause)
		}
		guards = append(guards, guard{lock, lease.Checks()})
	}
	return guards, nil
}

func (s *Storage) leasesFor(p parts) map[string]*locks.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	leases := map[string]*locks.Lease{}
	for lock, h := range s.held {
		if h.lease != nil && h.scope.has(p) {
			leases[lock] = h.lease
		}
	}
	return leases
}

// refused returns the error of a transaction that begins with the checks of these
// locks. If a check has found no node, the error says that the lock is lost.
func refused(err error, guards []guard) error {
	var failed *framework.TxnError
	if code(err) != noNode || !errors.As(err, &failed) { //nolint:forbidigo // err is a server's answer
		return err
	}
	if is(err, framework.ErrOutcomeUnknown) {
		return err // an earlier request, whose reply was lost, may have been applied; the next try finds out
	}
	of := failed.Index
	for _, g := range guards {
		if of < len(g.checks) {
			return lockLost(g.lock, nil)
		}
		of -= len(g.checks)
	}
	return err
}

// These are certmagic's names for its locks, and for an account without an address.
const (
	certificateLock = "issue_cert_"
	accountLock     = "register_acme_account"
	noAddress       = "default"
)

// scope is the set of keys that a lock guards.
type scope struct {
	prefix  parts  // this key and all keys below it; ignored if empty
	subject string // keys of this certificate or account; ignored if empty
}

func scopeOf(lock string) scope {
	sc := scope{prefix: partsOf(lock)}
	if name, ok := strings.CutPrefix(lock, certificateLock); ok {
		if ascii, err := idna.ToASCII(name); err == nil {
			name = ascii
		}
		sc.subject = certmagic.StorageKeys.Safe(name)
	}
	if address, ok := strings.CutPrefix(lock, accountLock); ok {
		sc.subject = certmagic.StorageKeys.Safe(cmp.Or(strings.TrimPrefix(address, "_"), noAddress))
	}
	return sc
}

// has reports whether the lock guards a key. The first two components of
// certmagic's keys are a kind and an issuer.
func (sc scope) has(p parts) bool {
	if n := len(sc.prefix); n > 0 && len(p) >= n && slices.Equal(p[:n], sc.prefix) {
		return true
	}
	if sc.subject == "" || len(p) < 3 {
		return false
	}
	last := p[len(p)-1]
	return slices.Contains(p[2:], sc.subject) || strings.TrimSuffix(last, path.Ext(last)) == sc.subject
}
