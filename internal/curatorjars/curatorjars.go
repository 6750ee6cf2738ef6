// Package curatorjars has Maven fetch Java Curator for programs of this
// repository. Only programs and tests import it.
package curatorjars

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pom asks for Java Curator, and for a logger.
const pom = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>curatorjars</groupId>
  <artifactId>curatorjars</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.curator</groupId><artifactId>curator-recipes</artifactId><version>%[1]s</version></dependency>
    <dependency><groupId>org.apache.curator</groupId><artifactId>curator-x-discovery</artifactId><version>%[1]s</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.30</version></dependency>
  </dependencies>
</project>
`

// Fetch returns a directory in the user's cache that has the jars of a version of
// Java Curator, and of its dependencies. If it is not there, Maven fills it.
func Fetch(ctx context.Context, version string) (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "curator-jars")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	dir = filepath.Join(cache, version)
	jar := "curator-recipes-" + version + ".jar" // the others are there with it
	if _, err := os.Stat(filepath.Join(dir, jar)); err == nil {
		return dir, nil
	}
	// It is complete before it has its name.
	work, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := copyInto(ctx, work, version); err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(work, "jars", jar)); err != nil {
		return "", fmt.Errorf("mvn: Java Curator %s: %w", version, err)
	}
	err = os.Rename(filepath.Join(work, "jars"), dir)
	if _, there := os.Stat(filepath.Join(dir, jar)); there == nil {
		return dir, nil // another program may have been faster
	}
	return "", err
}

func copyInto(ctx context.Context, work, version string) error {
	file := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(file, fmt.Appendf(nil, pom, version), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", file, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+filepath.Join(work, "jars"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("mvn: Java Curator %s: %w: %s", version, err, strings.TrimSpace(string(out)))
	}
	return nil
}
