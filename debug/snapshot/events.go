package snapshot

import (
	"fmt"
	"strings"

	"github.com/gocurator/curator/debug/internal/brief"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/printable"
)

// kind is how events of one kind are shown.
type kind struct {
	name    string // see Event.Kind
	text    func(e flight.Event) string
	trouble func(e flight.Event) bool
}

var kinds = map[flight.Kind]kind{
	flight.ClientOpened: {"client", says("opened"), never},
	flight.ClientClosed: {"client", says("closed"), never},
	flight.StateChanged: {"state", describeState, func(e flight.Event) bool { return !isConnected(e) }},

	flight.NodeChanged:     {"registration", nameOf, failed},
	flight.NodeOverwritten: {"registration", nameOf, always},

	flight.CacheFilled:      {"cache", describeFilled, never},
	flight.CacheInterrupted: {"cache", says("interrupted"), always},
	flight.CacheEnded:       {"cache", says("ended"), failed},

	flight.InstanceChanged:   {"instance", nameOf, failed},
	flight.InstanceEjected:   {"ejected", takes("for "), always},
	flight.DirectoryChanged:  {"directory", nameOf, never},
	flight.DirectoryTroubled: {"directory", nameOf, always},

	flight.Waiting:       {"waiting", describeWait, never},
	flight.Acquired:      {"acquired", takes("after "), never},
	flight.NotAcquired:   {"not acquired", func(e flight.Event) string { return strings.ReplaceAll(e.Other, "_", " ") + takes(" after ")(e) }, never},
	flight.AcquireFailed: {"not acquired", takes("failed after "), always},
	flight.HoldRevoked:   {"revoked", says("somebody asks the holder to release it"), never},
	flight.HoldLost:      {"lost", takes("held for "), always},
	flight.Released:      {"released", func(e flight.Event) string { return takes("held for ")(e) + leftBy(e.Err) }, failed},
}

func never(flight.Event) bool    { return false }
func always(flight.Event) bool   { return true }
func failed(e flight.Event) bool { return e.Err != nil }

func nameOf(e flight.Event) string { return e.Name }

func says(text string) func(flight.Event) string { return func(flight.Event) string { return text } }

// takes says how long the acquire, or the hold, has taken.
func takes(before string) func(flight.Event) string {
	return func(e flight.Event) string { return before + brief.Duration(e.Took) }
}

func eventOf(e flight.Event) Event {
	k := kinds[e.Kind]
	shown := Event{
		Time: e.Time, Kind: k.name, Path: e.Path, Recipe: e.Recipe, Node: e.Node,
		Duration: Seconds(e.Took), Text: k.text(e), Cause: text(e.Err), Trouble: k.trouble(e),
	}
	switch k.name {
	case "state":
		shown.Name = strings.ToLower(e.Name)
	case "registration", "cache", "instance", "directory": // the text says it
	default:
		shown.Name = e.Name
	}
	return shown
}

func isConnected(e flight.Event) bool {
	return strings.EqualFold(e.Name, "connected") || strings.EqualFold(e.Name, "reconnected")
}

func describeState(e flight.Event) string {
	if isConnected(e) {
		return strings.ToLower(e.Name) + " to " + printable.String(e.Other)
	}
	return strings.ToLower(e.Name)
}

func describeFilled(e flight.Event) string {
	return fmt.Sprintf("%s after %s, %s", e.Name, brief.Duration(e.Took), brief.Count(e.Count, "node"))
}

func describeWait(e flight.Event) string {
	ahead := fmt.Sprintf("%d ahead", e.Count)
	if e.Other != "" {
		ahead += ", held by " + brief.Node(e.Other)
	}
	return ahead
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
