package claim

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// Together is Several for leases whose nodes one transaction of the client has
// made. The release deletes them by one transaction, too.
func Together(ctx context.Context, c *framework.Client) *Lease {
	l := Several(ctx)
	l.several.client = c
	return l
}

// Owe adds nodes that have no lease, and that the release deletes with the
// others. It must be called before the release.
func (l *Lease) Owe(nodes []framework.Created) { l.several.owed = nodes }

// deleteTogether deletes the nodes of all leases that were the last of their
// claims, and those that are owed. If that fails, such as because one of them is
// gone, or if the connection breaks, each lease deletes its own nodes, as if
// there were no others.
func (s *several) deleteTogether(ctx context.Context, leases []*Lease, partings []parting) {
	owed := s.owed
	defer func() { DeleteInBackground(s.client, owed) }()
	claims, nodes := s.deletable(leases, partings)
	if len(nodes) < 2 && len(owed) == 0 {
		return // the lease does it
	}
	under, done := WhileConnected(ctx, nodes[0].Session)
	defer done()
	for _, c := range claims { // their deletion is no loss
		c.watcher.end()
		c.end(ErrReleased)
	}
	if len(claims) > 0 {
		var wait func()
		under, wait = claims[0].Trace().During(under, s.client)
		defer wait()
	}
	if under.Err() != nil || deleteTogether(under, s.client, nodes) != nil {
		return
	}
	owed = nil
	for _, c := range claims {
		c.Spent()
	}
}

// deletable returns the claims that end with these leases, and all nodes to
// delete. It leaves out claims of another view of the client, which have other
// paths, and those whose nodes a goroutine of this process may take over.
func (s *several) deletable(leases []*Lease, partings []parting) (claims []*Claim, nodes []framework.Created) {
	for i, l := range leases {
		c := l.claim
		if partings[i].last && reason.Is(partings[i].cause, ErrReleased) && c.terms.Client == s.client && c.placeNow() == nil {
			claims, nodes = append(claims, c), append(nodes, c.nodes...)
		}
	}
	return claims, append(nodes, s.owed...)
}
