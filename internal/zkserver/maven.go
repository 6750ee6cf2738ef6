package zkserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// cacheName is the name of this package's directory in the user's cache
// directory.
const cacheName = "curator-zkserver"

// fetchTimeout bounds one run of mvn. It downloads about 10 MB and, on a fresh
// machine, its own plugins.
const fetchTimeout = 5 * time.Minute

// mavenPOM asks for the server, for a logger that needs no configuration, and
// for two dependencies that the server's own POM leaves to the distribution:
// metrics, without which mntr fails, and snappy, without which snapshots fail.
const mavenPOM = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>zkserver</groupId>
  <artifactId>zkserver</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.zookeeper</groupId>
      <artifactId>zookeeper</artifactId><version>%s</version></dependency>
    <dependency><groupId>io.dropwizard.metrics</groupId>
      <artifactId>metrics-core</artifactId><version>4.1.12.1</version></dependency>
    <dependency><groupId>org.xerial.snappy</groupId>
      <artifactId>snappy-java</artifactId><version>1.1.10.5</version></dependency>
    <dependency><groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId><version>1.7.30</version></dependency>
  </dependencies>
</project>
`

// mavenVersion matches versions without characters that have a meaning in XML
// or in a path.
var mavenVersion = regexp.MustCompile(`^[0-9][0-9A-Za-z.\-]*$`)

func (f finder) fromMaven(version string) (*Distribution, error) {
	if !mavenVersion.MatchString(version) {
		return nil, fmt.Errorf("zkserver: %s=%q is not a version such as 3.9.3", envMaven, version)
	}
	cache, err := f.cacheDir()
	if err != nil {
		return nil, fmt.Errorf("zkserver: %s=%s: %w", envMaven, version, err)
	}
	dir := filepath.Join(cache, cacheName, "zookeeper-"+version)
	if !exists(dir) {
		if err := f.fetch(version, dir); err != nil {
			return nil, fmt.Errorf("zkserver: %s=%s: %w", envMaven, version, err)
		}
	}
	d, err := fromHome(dir)
	if err != nil {
		return nil, err
	}
	d.Origin = envMaven + "=" + version
	return d, nil
}

// fetch lets mvn copy the jars into a temporary directory and renames that to
// dir when it is complete. Other test programs may read or fill the cache at
// the same time.
func (f finder) fetch(version, dir string) error {
	mvn, err := f.lookPath("mvn")
	if err != nil {
		return fmt.Errorf("fetching needs the command mvn: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), ".fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := runMaven(mvn, version, work); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(work, "jars"), dir); err != nil && !exists(dir) {
		return err
	}
	return nil
}

func runMaven(mvn, version, work string) error {
	pom := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(pom, fmt.Appendf(nil, mavenPOM, version), 0o644); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "-f", pom, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+filepath.Join(work, "jars"))
	// mvn is a script, and its java process keeps the output pipe open.
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("mvn: %w: %s", errors.Join(err, ctx.Err()), strings.TrimSpace(string(out)))
	}
	return nil
}
