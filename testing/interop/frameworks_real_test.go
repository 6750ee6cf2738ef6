//go:build real

package interop_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// frameworksPOM asks for the newest Curator, for Spring Cloud Zookeeper and Dubbo,
// and for what their classes need here.
const frameworksPOM = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>interop</groupId>
  <artifactId>interop</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.curator</groupId><artifactId>curator-recipes</artifactId><version>5.9.0</version></dependency>
    <dependency><groupId>org.apache.curator</groupId><artifactId>curator-x-discovery</artifactId><version>5.9.0</version></dependency>
    <dependency><groupId>org.springframework</groupId><artifactId>spring-context</artifactId><version>6.2.6</version></dependency>
    <dependency><groupId>org.springframework.cloud</groupId><artifactId>spring-cloud-commons</artifactId><version>4.3.0</version>` + alone + `</dependency>
    <dependency><groupId>org.springframework.cloud</groupId><artifactId>spring-cloud-zookeeper-discovery</artifactId><version>4.3.0</version>` + alone + `</dependency>
    <dependency><groupId>org.apache.dubbo</groupId><artifactId>dubbo</artifactId><version>3.3.5</version>` + alone + `</dependency>
    <dependency><groupId>com.alibaba.fastjson2</groupId><artifactId>fastjson2</artifactId><version>2.0.53</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`

// alone leaves out what an artifact depends on.
const alone = `<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>`

// startFramework is startPeer for a peer with the newest Curator, Spring and Dubbo.
// It is one in the same process as the others.
func startFramework(t testing.TB, addr string, session time.Duration) *peer {
	t.Helper()
	return startPeerOf(t, frameworks.get(t), addr, session)
}

// startFunc starts a peer.
type startFunc func(t testing.TB, addr string, session time.Duration) *peer

// onEachCurator is onFakeAndReal for peers with Debian's Curator, and for peers with
// the newest one.
func onEachCurator(t *testing.T, scenario func(t *testing.T, srv *testServer, start startFunc)) {
	t.Helper()
	for name, start := range map[string]startFunc{"Debian": startPeer, "newest": startFramework} {
		t.Run(name, func(t *testing.T) {
			if name == "newest" {
				frameworks.get(t)
			}
			onFakeAndReal(t, func(t *testing.T, srv *testServer) { scenario(t, srv, start) })
		})
	}
}

// frameworks is found by the first test that needs it.
var frameworks = &lazyFrameworks{}

// lazyFrameworks is a class path with the frameworks, and the peer compiled with
// them. Maven fetches the jars into the user's cache directory.
type lazyFrameworks struct {
	once      sync.Once
	classPath string
	err       error
}

var errNoMaven = errors.New("interop: there is no command mvn, which fetches Spring and Dubbo")

// get returns the class path. It may have to fetch.
func (l *lazyFrameworks) get(t testing.TB) string {
	t.Helper()
	l.once.Do(func() { l.classPath, l.err = fetchFrameworks() })
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.classPath
}

func fetchFrameworks() (classPath string, err error) {
	dir, err := fetchJars(frameworksPOM)
	if err != nil {
		return "", err
	}
	jars, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil {
		return "", err
	}
	javac, err := javaCommand("javac")
	if err != nil {
		return "", err
	}
	classes, err := compiled(javac, jars, "frameworks")
	return strings.Join(append([]string{classes}, jars...), string(os.PathListSeparator)), err
}

// fetchJars returns a directory with the jars of a POM, and has Maven fill it if
// it is not there. It is complete before it gets its name.
func fetchJars(pom string) (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "curator-interop")
	dir = filepath.Join(cache, fmt.Sprintf("jars-%x", sha256.Sum256([]byte(pom)))[:21])
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := runMaven(work, pom); err != nil {
		return "", err
	}
	err = os.Rename(filepath.Join(work, "jars"), dir)
	if _, there := os.Stat(dir); there == nil {
		return dir, nil // by this run or by another at the same time
	}
	return "", err
}

// fetchTimeout is for some 40 MB, and for Maven's own plugins on a new machine.
const fetchTimeout = 5 * time.Minute

func runMaven(work, pom string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("%w (%w)", errNoMaven, err)
	}
	file := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(file, []byte(pom), 0o644); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "-f", file, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+filepath.Join(work, "jars"))
	cmd.WaitDelay = time.Second // mvn is a script, and its java process keeps the output open
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("interop: mvn: %w: %s", errors.Join(err, ctx.Err()), out)
	}
	return nil
}
