package flight

import "time"

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
	Drains               bool
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
	Name               string
	Instances, Drained int // the first counts all
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

// Followers are all registrations, caches and directories of a client.
type Followers struct {
	Registrations *Sources[Registration]
	Caches        *Sources[Cache]
	Directories   *Sources[Directory]
}

// Followers returns what the recorder has of them.
func (r *Recorder) Followers() Followers {
	if r == nil {
		return Followers{}
	}
	return r.followers
}

func newFollowers(r *Recorder) Followers {
	return Followers{
		Registrations: newSources(r, func(r *Registration) *End { return &r.End }),
		Caches:        newSources(r, func(c *Cache) *End { return &c.End }),
		Directories:   newSources(r, func(d *Directory) *End { return &d.End }),
	}
}

// forgetEndsLocked forgets what has ended.
func (f Followers) forgetEndsLocked() {
	f.Registrations.ended, f.Caches.ended, f.Directories.ended = nil, nil, nil
}
