//! Embedded Kubernetes-style API server.
