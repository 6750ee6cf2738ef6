package flight

import (
	"slices"
	"time"
)

// Registration is a node that is kept registered, or was.
type Registration struct {
	Path    string // the path that was asked for, with the chroot
	Node    string // the path of the node, if it is there, or may be
	Czxid   int64
	Changed time.Time // between registered and not, for the last time
	Err     error     // why it is not registered

	// Conflict says that Err is about somebody else's node.
	Conflict bool

	// Deleting says that it has ended, and that its node is not known to be
	// deleted.
	Deleting bool

	Instance *Instance // nil for a node that is no instance of a service

	End
}

// Instance is the instance of a service that a registration is for.
type Instance struct {
	Service, ID, Address string
	Port, TLSPort        int
	Drains               bool  // the user has it drain
	Failure              error // why its health check has it drain; or nil
}

// Directory is a directory of services as it is now, or as it was when it
// ended.
type Directory struct {
	Root        string // the path at the server, with the chroot
	Filled      bool
	Interrupted bool
	Err         error // the refusal that interrupts it
	Zxid        int64
	Services    []Service
	Bad         []BadNode

	End
}

// Service is what a directory has of a service.
type Service struct {
	Name                         string
	Instances, Drained, Suspects int // the first counts all
}

// BadNode is a node that should be an instance.
type BadNode struct {
	Path string
	Err  error
}

// Cache is a cache as it does now, or as it did when it ended.
type Cache struct {
	Root    string // the path at the server, with the chroot
	Synced  bool
	Nodes   int
	ToRead  int
	Zxid    int64
	Lag     time.Duration
	Behind  int64
	Resyncs int64

	Unreadable int   // how many nodes could not be read
	RootErr    error // why the root is one of them

	End
}

// End is how something has ended by itself. It is zero for what goes on.
type End struct {
	Ended time.Time
	Why   error
}

// keptEnds is how many registrations that an error has ended are kept, how many
// such caches, and how many such directories.
const keptEnds = 16

// source is something that can be asked how it does.
type source[T any] struct {
	path string
	ask  func() T
}

// sources are all registrations, all caches, or all directories. The mutex of
// their Recorder protects them.
type sources[T any] struct {
	endOf  func(*T) *End
	live   map[*source[T]]struct{}
	newest map[string]*source[T] // the newest live one of each path

	// ended are the last ones that an error has ended, the oldest end first.
	// There is one of each path.
	ended []ended[T]
}

// ended is what a source said when it ended. It does not refer to the source.
type ended[T any] struct {
	path string
	last T
}

func newSources[T any](endOf func(*T) *End) sources[T] {
	return sources[T]{endOf: endOf, live: map[*source[T]]struct{}{}, newest: map[string]*source[T]{}}
}

// AddRegistration has a registration shown until the returned function is
// called with the error that has ended it. If that is not nil, the recorder
// asks once more, and keeps the answer: until another registration of the path
// is added, the client is closed, or others have ended since. The argument now
// is called without a lock of the recorder.
func (r *Recorder) AddRegistration(path string, now func() Registration) (end func(err error)) {
	if r == nil {
		return func(error) {}
	}
	return addSource(r, &r.registrations, path, now)
}

// AddCache has a cache shown in the same way.
func (r *Recorder) AddCache(root string, now func() Cache) (end func(err error)) {
	if r == nil {
		return func(error) {}
	}
	return addSource(r, &r.caches, root, now)
}

// AddDirectory has a directory shown in the same way.
func (r *Recorder) AddDirectory(root string, now func() Directory) (end func(err error)) {
	if r == nil {
		return func(error) {}
	}
	return addSource(r, &r.directories, root, now)
}

// Describe has the registration of a path say of which instance it is. The
// argument now is called as that of AddRegistration.
func (r *Recorder) Describe(path string, now func() Instance) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.registrations.newest[path]; s != nil {
		bare := s.ask
		s.ask = func() Registration {
			all, instance := bare(), now()
			all.Instance = &instance
			return all
		}
	}
}

func addSource[T any](r *Recorder, to *sources[T], path string, ask func() T) (end func(err error)) {
	s := &source[T]{path, ask}
	r.mu.Lock()
	defer r.mu.Unlock()
	to.live[s], to.newest[path] = struct{}{}, s
	to.forgetLocked(path)
	return func(err error) { endSource(r, to, s, err) }
}

func endSource[T any](r *Recorder, of *sources[T], s *source[T], err error) {
	var e ended[T]
	if err != nil {
		r.mu.Lock()
		ask := s.ask
		r.mu.Unlock()
		e = ended[T]{s.path, ask()}
		*of.endOf(&e.last) = End{time.Now(), err}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, live := of.live[s]; !live {
		return
	}
	delete(of.live, s)
	newest := of.newest[s.path]
	if newest == s {
		delete(of.newest, s.path)
	}
	if err != nil && (newest == s || newest == nil) { // otherwise it has a successor
		of.keepLocked(e)
	}
}

func (s *sources[T]) keepLocked(e ended[T]) {
	s.forgetLocked(e.path)
	if len(s.ended) == keptEnds {
		s.ended = slices.Delete(s.ended, 0, 1)
	}
	s.ended = append(s.ended, e)
}

func (s *sources[T]) forgetLocked(path string) {
	s.ended = slices.DeleteFunc(s.ended, func(e ended[T]) bool { return e.path == path })
}

// Registrations asks all registrations how they do. Those that have ended with
// an error are first, the oldest end before the others. The rest has no order.
func (r *Recorder) Registrations() []Registration {
	if r == nil {
		return nil
	}
	return askAll(r, &r.registrations)
}

// Caches asks all caches in the same way.
func (r *Recorder) Caches() []Cache {
	if r == nil {
		return nil
	}
	return askAll(r, &r.caches)
}

// Directories asks all directories in the same way.
func (r *Recorder) Directories() []Directory {
	if r == nil {
		return nil
	}
	return askAll(r, &r.directories)
}

func askAll[T any](r *Recorder, of *sources[T]) []T {
	r.mu.Lock()
	all := make([]T, 0, len(of.ended)+len(of.live))
	for _, e := range of.ended {
		all = append(all, e.last)
	}
	live := make([]func() T, 0, len(of.live))
	for s := range of.live {
		live = append(live, s.ask)
	}
	r.mu.Unlock()
	for _, ask := range live {
		all = append(all, ask())
	}
	return all
}
