package discovery

// The Java classes of payloads that have labels.
const (
	springClass = "org.springframework.cloud.zookeeper.discovery.ZookeeperInstance"
	dubboClass  = "org.apache.dubbo.registry.zookeeper.ZookeeperInstance"
)

// JavaCodec reads what Java Curator, Spring and Dubbo write, each as its own codec
// does. They may be below one base, and FormatOf tells them apart. It writes what
// Java Curator writes.
func JavaCodec() Codec { return javaCodec{CuratorCodec()} }

type javaCodec struct{ Codec }

func (c javaCodec) Decode(service, name string, data []byte) (Instance, error) {
	i, err := c.Codec.Decode(service, name, data)
	if err != nil {
		return i, err
	}
	switch FormatOf(i) {
	case "spring":
		return spring{}.Decode(service, name, data)
	case "dubbo":
		return dubbo{}.Decode(service, name, data)
	}
	return i, nil
}

// FormatOf returns whose format an instance has that one of Java's codecs has
// read: "spring", "dubbo" or "curator". The class of its payload tells that.
func FormatOf(i Instance) string {
	payload, err := readFields(i.Payload)
	if err != nil {
		return "curator"
	}
	switch payload.text(classField) {
	case springClass:
		return "spring"
	case dubboClass:
		return "dubbo"
	}
	return "curator"
}
