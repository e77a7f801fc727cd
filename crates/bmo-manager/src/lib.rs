//! The manager process, baremetal-operator.
