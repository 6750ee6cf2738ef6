// Package datatree is ZooKeeper's data: the tree of nodes, the transactions that
// change it, and the tables of watches. It knows no server, no clock and no
// connection, and none of its types may be used by two goroutines at once.
package datatree
