package zkserver

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// properties returns the contents of zoo.cfg.
func properties(c config, m member, files layout) map[string]string {
	p := map[string]string{
		"tickTime":               millis(c.tick),
		"minSessionTimeout":      millis(c.minSession),
		"maxSessionTimeout":      millis(c.maxSession),
		"dataDir":                files.inCfg(files.data()),
		"admin.enableServer":     "false",
		"4lw.commands.whitelist": "*",
		"maxClientCnxns":         "0",
		"forceSync":              "no",
		"extendedTypesEnabled":   "true", // TTL nodes
	}
	if m.peers == nil {
		p["clientPort"] = strconv.Itoa(m.client)
		p["clientPortAddress"] = loopback
	} else {
		// So that an ensemble of one is an ensemble.
		p["standaloneEnabled"] = "false"
		p["initLimit"] = strconv.Itoa(c.initLimit)
		p["syncLimit"] = strconv.Itoa(c.syncLimit)
		for _, peer := range m.peers {
			p["server."+strconv.Itoa(peer.id)] = peer.spec()
		}
	}
	if m.secure != 0 {
		maps.Copy(p, tlsProperties(c, strconv.Itoa(m.secure), files))
	}
	if len(c.sequences) > 0 {
		// The server begins with a transaction log that follows no snapshot.
		p["snapshot.trust.empty"] = "true"
	}
	maps.Copy(p, c.properties)
	return p
}

// format returns properties in the format of zoo.cfg, sorted by key.
func format(p map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&b, "%s=%s\n", key, p[key])
	}
	return b.String()
}

// jvmArgs returns the arguments of java. They make for a quick start: no server runs
// long enough to repay an optimising compiler, a concurrent collector, or a large heap,
// and few methods are called often enough to repay any compiler. So a method is
// compiled after five times as many calls as by default. The unused counters for jstat
// would take a seventh of a start.
func jvmArgs(c config, classPath []string, files layout) []string {
	args := []string{
		"-Xms64m",
		"-Xmx256m",
		"-Xshare:auto",
		"-XX:TieredStopAtLevel=1",
		"-XX:CompileThresholdScaling=5",
		"-XX:+UseSerialGC",
		"-XX:-UsePerfData",
		"-Djava.awt.headless=true",
		"-Dzookeeper.jmx.log4j.disable=true",
		"-Dlog4j.configuration=" + fileURL(files.log4j()),
		"-Dlogback.configurationFile=" + fileURL(files.logback()),
		// Servers repeat their votes to a silent peer at growing intervals, by default
		// up to a minute. A server that is restarted late would wait that long for its
		// peers.
		"-Dzookeeper.fastleader.maxNotificationInterval=500",
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
	}
	args = append(args, c.jvmFlags...)
	return append(args, "-cp", strings.Join(classPath, string(os.PathListSeparator)),
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", files.cfg())
}

func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a path of Windows, which begins with a drive
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Distributions log through log4j or logback. These two configurations log to
// the standard output, where Log reads it. The server gets them as system properties:
// if the class path has a directory, Java writes no archive of classes.
const (
	log4jProperties = `log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{HH:mm:ss.SSS} %p %c{1} %m%n
`
	logbackXML = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{HH:mm:ss.SSS} %p %c{1} %m%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
`
)

// layout names the files of a server in its directory.
type layout struct{ dir string }

func (l layout) conf() string { return filepath.Join(l.dir, "conf") }
func (l layout) data() string { return filepath.Join(l.dir, "data") }

// as ZooKeeper names it
func (l layout) transactions() string { return filepath.Join(l.data(), "version-2") }
func (l layout) cfg() string          { return filepath.Join(l.conf(), "zoo.cfg") }
func (l layout) log() string          { return filepath.Join(l.dir, "server.log") }

// The configurations of the loggers.
func (l layout) log4j() string   { return filepath.Join(l.conf(), "log4j.properties") }
func (l layout) logback() string { return filepath.Join(l.conf(), "logback.xml") }

// The certificates of a server with TLS. ZooKeeper wants file names that end in
// pem.
func (l layout) serverPEM() string { return filepath.Join(l.conf(), "server.pem") }
func (l layout) caPEM() string     { return filepath.Join(l.conf(), "ca.pem") }

// inCfg returns a path in the form of zoo.cfg, where a backslash is an escape.
func (l layout) inCfg(path string) string { return filepath.ToSlash(path) }

// create writes the files, once per server: ZooKeeper itself rewrites zoo.cfg
// when the members of the ensemble change.
func (l layout) create(c config, m member) error {
	for _, dir := range []string{l.conf(), l.data()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	files := map[string]string{
		l.cfg():                         format(properties(c, m, l)),
		l.log4j():                       log4jProperties,
		l.logback():                     logbackXML,
		filepath.Join(l.data(), "myid"): strconv.Itoa(m.id) + "\n",
	}
	if c.certificates != nil {
		files[l.serverPEM()] = string(c.certificates.serverPEM)
		files[l.caPEM()] = string(c.certificates.authorityPEM())
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return l.createSequences(c.sequences)
}
