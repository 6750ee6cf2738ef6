package discovery

import (
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/event"
)

// HookInstanceChanged is a clienttrace.Hook. The client's emitter calls InstanceChanged
// when an instance that the client has registered is drained, and when it is resumed.
// For events of the instance's node (registered, lost, conflict), see
// nodes.HookNodeStarted.
type HookInstanceChanged interface {
	InstanceChanged(change InstanceChange)
}

// InstanceChange says that an instance was drained or resumed.
type InstanceChange struct {
	Client   *framework.Client
	Path     string   // of the node
	Instance Instance // as Registration.Instance returns it
	Drains   bool
	Time     time.Time
}

// HookDirectoryChanged is a clienttrace.Hook. The client's emitter calls
// DirectoryChanged for every change of a Directory, from its start to its end.
type HookDirectoryChanged interface {
	DirectoryChanged(change DirectoryChange)
}

// DirectoryChange counts what has changed in a Directory, as Changes would report it.
type DirectoryChange struct {
	Client                             *framework.Client
	Directory                          *Directory
	Now                                *Snapshot
	Added, Removed, Updated, Malformed int
	Ended                              bool // this is the last change
}

// HookInstanceEjected is a clienttrace.Hook. The emitter of the directory's client calls
// InstanceEjected when a Picker with WithDirectory ejects an instance.
type HookInstanceEjected interface {
	InstanceEjected(ejected Ejection)
}

// Ejection says which instance a Picker ejects, for how long, and the error of the
// instance's last request.
type Ejection struct {
	Client    *framework.Client // of the Directory
	Directory *Directory
	Instance  Instance
	For       time.Duration
	Err       error
}

var (
	hookInstanceChanged  = framework.NewHookKind[HookInstanceChanged]()
	hookDirectoryChanged = framework.NewHookKind[HookDirectoryChanged]()
	hookInstanceEjected  = framework.NewHookKind[HookInstanceEjected]()
)

// Log lines of directories and pickers.
var (
	eventBad     = event.Kind{Warn: "node is no readable instance"}
	eventEjected = event.Kind{Warn: "instance ejected for a while, because its requests fail"}
)

// tell reports a change of Disabled, if there was one.
func (r *Registration) tell(was, now Instance) {
	if was.Disabled == now.Disabled {
		return
	}
	change := InstanceChange{
		Client: r.client, Path: r.path, Instance: copied(now), Drains: now.Disabled, Time: time.Now(),
	}
	r.events.Emit(event.Kind{
		Hook: event.Call(hookInstanceChanged, func(h HookInstanceChanged) { h.InstanceChanged(change) }),
	}, nil)
}

// tellLocked reports what has changed since a snapshot.
func (d *Directory) tellLocked(last *Snapshot, ended bool) {
	var news [len(changeTypes)]int
	for ch := range between(last, d.now) {
		news[ch.Type]++
	}
	change := DirectoryChange{
		Client: d.cache.Client(), Directory: d, Now: d.now, Ended: ended,
		Added: news[Added], Removed: news[Removed], Updated: news[Updated], Malformed: news[Malformed],
	}
	d.events.Emit(event.Kind{
		Hook: event.Call(hookDirectoryChanged, func(h HookDirectoryChanged) { h.DirectoryChanged(change) }),
	}, nil)
}

// tellEjected reports the ejection of an instance.
func (d *Directory) tellEjected(i Instance, pause time.Duration, err error) {
	k, ejected := eventEjected, Ejection{Client: d.cache.Client(), Directory: d, Instance: i, For: pause, Err: err}
	k.Hook = event.Call(hookInstanceEjected, func(h HookInstanceEjected) { h.InstanceEjected(ejected) })
	d.events.At(d.pathOf(i)).Emit(k, err)
}
