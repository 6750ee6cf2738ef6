module github.com/gocurator/curator/contrib/certmagic

go 1.25.0

require (
	github.com/caddyserver/certmagic v0.25.4
	github.com/go-zookeeper/zk v1.0.4
	github.com/gocurator/curator v0.0.0
	github.com/stretchr/testify v1.12.1
	go.uber.org/zap v1.27.1
	golang.org/x/net v0.58.0
)

require (
	github.com/caddyserver/zerossl v0.1.5 // indirect
	github.com/cenkalti/backoff/v4 v4.3.0 // indirect
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	github.com/libdns/libdns v1.1.1 // indirect
	github.com/mholt/acmez/v3 v3.1.6 // indirect
	github.com/miekg/dns v1.1.72 // indirect
	github.com/zeebo/blake3 v0.2.4 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap/exp v0.3.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.55.0 // indirect
	golang.org/x/mod v0.38.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	golang.org/x/tools v0.48.0 // indirect
)

replace github.com/gocurator/curator => ../..
