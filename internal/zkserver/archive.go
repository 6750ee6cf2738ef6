package zkserver

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A third of the work of a server's start is to load and check its classes. Java can
// keep the result in a file, an archive for class-data sharing, and map it into memory
// at the next start (JEP 350). There is one archive for standalone servers and one for
// members of ensembles, in the user's cache directory. The first program on a machine
// makes the archive, which takes some seconds. Servers also start without an archive.
//
// Java before version 13 ends at once when asked to make an archive, because it does
// not know the flag. So if an archive exists, Java knows the flags for using it. The
// flag -XX:+IgnoreUnrecognizedVMOptions is no alternative: it applies to all flags, and
// a misspelt flag of a test would go unnoticed.

// archiveTimeout bounds the making of an archive.
const archiveTimeout = time.Minute

// archiveFlags returns the flags with which servers of d use their archive. If there is
// no archive, archiveFlags makes one.
func archiveFlags(cacheDir func() (string, error), d *Distribution, ensemble bool) []string {
	path := archivePath(cacheDir, d, ensemble)
	if path == "" {
		return nil
	}
	made, _ := archives.LoadOrStore(path, sync.OnceValue(func() bool {
		return exists(path) || makeArchive(path, d, ensemble) == nil
	}))
	if !made.(func() bool)() {
		return nil
	}
	return []string{"-XX:SharedArchiveFile=" + path}
}

// archives has a function for each archive that this program has asked for. It
// makes the archive when it is first called.
var archives sync.Map

// archivePath returns the path of the archive for servers of d, or "" if they
// cannot have one: Java archives no classes of directories. The name is made of
// everything that the archive depends on.
func archivePath(cacheDir func() (string, error), d *Distribution, ensemble bool) string {
	cache, err := cacheDir()
	if err != nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintln(h, ensemble)
	for _, path := range append([]string{d.Java}, d.ClassPath...) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return ""
		}
		fmt.Fprintln(h, path, info.Size(), info.ModTime().UnixNano())
	}
	return filepath.Join(cache, cacheName, fmt.Sprintf("classes-%x.jsa", h.Sum(nil)[:8]))
}

// makeArchive runs a server that archives its classes at its end. Other programs may
// make the same archive at the same time: each uses a separate file, and the last one
// stays.
func makeArchive(path string, d *Distribution, ensemble bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".classes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	temp := filepath.Join(dir, "classes.jsa")
	c, err := newConfig([]Option{WithJVMFlags("-XX:ArchiveClassesAtExit=" + temp)})
	if err != nil {
		return err
	}
	servers := 0
	if ensemble {
		servers = 1
	}
	e, err := startOnce(c, d, servers, newMembers)
	if err != nil {
		return err
	}
	defer e.Close()
	if err := e.servers[0].process().terminate(archiveTimeout); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
