package wire

import "strconv"

// EventType is the kind of a watch event.
type EventType int32

// These are the events that a server sends.
const (
	EventCreated         EventType = 1
	EventDeleted         EventType = 2
	EventDataChanged     EventType = 3
	EventChildrenChanged EventType = 4
)

// String returns ZooKeeper's name of the event.
func (e EventType) String() string {
	switch e {
	case EventCreated:
		return "NodeCreated"
	case EventDeleted:
		return "NodeDeleted"
	case EventDataChanged:
		return "NodeDataChanged"
	case EventChildrenChanged:
		return "NodeChildrenChanged"
	}
	return "EventType(" + strconv.Itoa(int(e)) + ")"
}
