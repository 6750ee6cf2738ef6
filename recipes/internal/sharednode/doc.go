// Package sharednode reads, creates and writes a node whose data is a value
// that all processes share, in the way of Curator's SharedValue. Package shared
// follows such a node. A semaphore with a shared limit reads one when it is
// acquired.
package sharednode

import "github.com/gocurator/curator/framework"

// Node is a node with this path. It has no state.
type Node struct {
	Client *framework.Client
	Path   string
}
