package discovery

// The Java classes of payloads that have labels.
const (
	springClass = "org.springframework.cloud.zookeeper.discovery.ZookeeperInstance"
	dubboClass  = "org.apache.dubbo.registry.zookeeper.ZookeeperInstance"
)

// FormatOf returns the format of an instance that CuratorCodec, SpringCodec or
// DubboCodec has read: "spring", "dubbo" or "curator". The class of its payload
// decides.
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
