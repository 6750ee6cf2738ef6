package wire

// EventType is the kind of a watch event.
type EventType int32

// The events that a server sends.
const (
	EventCreated         EventType = 1
	EventDeleted         EventType = 2
	EventDataChanged     EventType = 3
	EventChildrenChanged EventType = 4
)
