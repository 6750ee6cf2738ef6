package view

import (
	"time"

	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/inspect"
)

// These are an operator's actions on a participant. If spans have such an event, the
// name is the same.
const (
	Revoked = semconv.EventRevoked
	Freed   = "freed" // the node was deleted
)

// Event is the JSON of an action on a participant.
type Event struct {
	Time        time.Time    `json:"time"`
	Event       string       `json:"event"`
	Path        string       `json:"path"`
	Recipe      inspect.Kind `json:"recipe"`
	Participant Participant  `json:"participant"`
	Waiting     int          `json:"waiters"` // left in the queue
}

// Sighting is a participant at the time of a read.
type Sighting struct {
	inspect.Participant
	Recipe inspect.Recipe
	Holds  bool
}

// Happened returns the event of an action that was just carried out on a participant.
func (v View) Happened(what string, s Sighting) Event {
	role := Waiter
	if s.Holds {
		role = Holder
	}
	return Event{
		Time: v.Now.UTC(), Event: what, Path: s.Recipe.Path, Recipe: s.Recipe.Kind,
		Participant: v.Participant(s.Recipe.Kind, s.Participant, role), Waiting: len(s.Recipe.Waiters),
	}
}
