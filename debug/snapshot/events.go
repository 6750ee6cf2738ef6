package snapshot

import (
	"fmt"
	"strings"

	"github.com/gocurator/curator/debug/internal/brief"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/printable"
)

// The kinds of events; see Event.Kind.
const (
	eventClient       = "client"
	eventState        = "state"
	eventWaiting      = "waiting"
	eventAcquired     = "acquired"
	eventNotAcquired  = "not acquired"
	eventReleased     = "released"
	eventLost         = "lost"
	eventRevoked      = "revoked"
	eventRegistration = "registration"
	eventCache        = "cache"
)

func eventOf(e flight.Event) Event {
	shown := Event{
		Time: e.Time, Path: e.Path, Recipe: e.Recipe, Name: e.Name, Node: e.Node,
		Duration: Seconds(e.Took), Cause: text(e.Err),
	}
	switch e.Kind {
	case flight.ClientOpened:
		shown.Kind, shown.Text = eventClient, "opened"
	case flight.ClientClosed:
		shown.Kind, shown.Text = eventClient, "closed"
	case flight.StateChanged:
		describeState(&shown, e)
	case flight.NodeChanged, flight.NodeOverwritten:
		shown.Kind, shown.Text, shown.Name = eventRegistration, e.Name, ""
		shown.Trouble = e.Err != nil || e.Kind == flight.NodeOverwritten
	case flight.CacheFilled, flight.CacheInterrupted, flight.CacheEnded:
		describeCache(&shown, e)
	default:
		describeLock(&shown, e)
	}
	return shown
}

func describeState(shown *Event, e flight.Event) {
	shown.Kind, shown.Name = eventState, strings.ToLower(e.Name)
	shown.Text = shown.Name
	connected := shown.Name == "connected" || shown.Name == "reconnected"
	if connected {
		shown.Text += " to " + printable.String(e.Other)
	}
	shown.Trouble = !connected
}

func describeCache(shown *Event, e flight.Event) {
	shown.Kind, shown.Name = eventCache, ""
	switch e.Kind {
	case flight.CacheFilled:
		shown.Text = fmt.Sprintf("%s after %s, %s", e.Name, brief.Duration(e.Took), brief.Count(e.Count, "node"))
	case flight.CacheInterrupted:
		shown.Text, shown.Trouble = "interrupted", true
	default:
		shown.Text, shown.Trouble = "ended", e.Err != nil
	}
}

func describeLock(shown *Event, e flight.Event) {
	switch e.Kind {
	case flight.AcquireFailed:
		shown.Kind, shown.Text, shown.Trouble = eventNotAcquired, "failed after "+brief.Duration(e.Took), true
	case flight.NotAcquired:
		outcome := strings.ReplaceAll(e.Other, "_", " ")
		shown.Kind, shown.Text = eventNotAcquired, outcome+" after "+brief.Duration(e.Took)
	case flight.HoldLost:
		shown.Kind, shown.Text, shown.Trouble = eventLost, "held for "+brief.Duration(e.Took), true
	case flight.HoldRevoked:
		shown.Kind, shown.Text = eventRevoked, "somebody asks the holder to release it"
	case flight.Waiting:
		shown.Kind, shown.Text = eventWaiting, fmt.Sprintf("%d ahead", e.Count)
		if e.Other != "" {
			shown.Text += ", held by " + brief.Node(e.Other)
		}
	case flight.Acquired:
		shown.Kind, shown.Text = eventAcquired, "after "+brief.Duration(e.Took)
	case flight.Released:
		shown.Kind, shown.Text, shown.Trouble = eventReleased, "held for "+brief.Duration(e.Took), e.Err != nil
		shown.Text += leftBy(e.Err)
	}
}

// leftBy says what a release with this error has left, as far as it is known.
func leftBy(err error) string {
	switch {
	case err == nil:
		return ""
	case framework.IsRefusal(err):
		return ", the node stays while the session lives"
	default:
		return ", the node may exist until the client has deleted it, or the session ends"
	}
}
