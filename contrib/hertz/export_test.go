package hertz

// WithLocalIP sets what a Registry takes for the address of this machine.
func (r *Registry) WithLocalIP(ip string) *Registry {
	r.localIP = func() string { return ip }
	return r
}
