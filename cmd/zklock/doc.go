// Zklock is for shells and operators: it runs commands under locks of
// ZooKeeper, and shows who holds what and who waits.
package main
