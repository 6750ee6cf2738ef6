package discovery

import (
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/event"
)

// HookInstanceChanged is a clienttrace.Hook that is called when an instance which a
// client keeps registered begins to drain, and when that ends. nodes.HookNodeStarted
// is called about the instance's node: when it is registered, lost, or in conflict. The
// client's emitter makes the calls.
type HookInstanceChanged interface {
	InstanceChanged(change InstanceChange)
}

// InstanceChange says that an instance drains, or does not any more.
type InstanceChange struct {
	Client   *framework.Client
	Path     string   // the node's
	Instance Instance // what Registration.Instance returns
	Drains   bool
	Time     time.Time
}

// HookDirectoryChanged is HookInstanceChanged for all changes of a Directory,
// from its start to its end.
type HookDirectoryChanged interface {
	DirectoryChanged(change DirectoryChange)
}

// DirectoryChange is what is new of a Directory: instances and malformed nodes
// are counted as Changes tells them.
type DirectoryChange struct {
	Client                             *framework.Client
	Directory                          *Directory
	Now                                *Snapshot
	Added, Removed, Updated, Malformed int
	Ended                              bool // there are no changes behind this one
}

// HookInstanceEjected is HookInstanceChanged for an instance that a Picker takes
// out, because its requests fail. The Picker needs WithDirectory.
type HookInstanceEjected interface {
	InstanceEjected(ejected Ejection)
}

// Ejection says which instance is taken out, for how long, and the error of its
// last request.
type Ejection struct {
	Client    *framework.Client // the Directory's
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

// The lines of directories and pickers in the log.
var (
	eventBad     = event.Kind{Warn: "node is no instance that can be read"}
	eventEjected = event.Kind{Warn: "instance is taken out for a while, because its requests fail"}
)

// tell tells whether the instance drains, if that has changed.
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

// tellLocked tells what is new since a snapshot, as Changes does.
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

// tellEjected tells that an instance is taken out.
func (d *Directory) tellEjected(i Instance, pause time.Duration, err error) {
	k, ejected := eventEjected, Ejection{Client: d.cache.Client(), Directory: d, Instance: i, For: pause, Err: err}
	k.Hook = event.Call(hookInstanceEjected, func(h HookInstanceEjected) { h.InstanceEjected(ejected) })
	d.events.At(d.pathOf(i)).Emit(k, err)
}
