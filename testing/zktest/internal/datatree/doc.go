// Package datatree is ZooKeeper's data: the tree of nodes, the transactions that change the
// tree, and the tables of watches. The package knows no servers, clocks and connections. Its
// types are not safe for concurrent use.
package datatree
