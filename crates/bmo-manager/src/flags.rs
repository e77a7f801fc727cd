//! The manager's flags as they are written, before they are checked (see [`crate::options`]).

use std::path::PathBuf;

use clap::{ArgAction, Args};

use crate::go_flags::parse_bool;

/// Flags of the manager. Names and defaults are upstream's, so that its manifests work unchanged.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Manager")]
pub struct ManagerFlags {
    /// Namespaces to watch: one, several with commas, or none for the whole cluster [env: WATCH_NAMESPACE]
    #[arg(long, value_name = "NAMES")]
    pub namespace: Option<String>,

    /// Provisioner to use: a plugin <NAME>-provisioner.so of PROVISIONER_PLUGIN_DIR, or fixture, which is built in
    #[arg(long, value_name = "NAME", default_value = "ironic")]
    pub provisioner: String,

    /// Address of the health endpoint; 0 for none
    #[arg(long, value_name = "ADDR", default_value = ":9440")]
    pub health_addr: String,

    /// Address of the metrics endpoint, HTTPS with tokens checked by the cluster; 0 for none
    #[arg(long, value_name = "ADDR", default_value = ":8443")]
    pub metrics_addr: String,

    /// Port of the webhook server; 0 for none
    #[arg(long, value_name = "PORT", default_value_t = 9443)]
    pub webhook_port: u16,

    /// Let one of several managers work at a time, agreed on through a Lease
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false",
          default_missing_value = "true", value_parser = parse_bool, action = ArgAction::Set)]
    pub enable_leader_election: bool,

    /// How long a lease holds, in seconds; default 15 [env: LEASE_DURATION_SECONDS]
    #[arg(long, value_name = "SECONDS", hide_default_value = true)]
    pub lease_duration_seconds: Option<String>,

    /// How long the leader tries to renew its lease before it gives up; default 10 [env: RENEW_DEADLINE_SECONDS]
    #[arg(long, value_name = "SECONDS")]
    pub renew_deadline_seconds: Option<String>,

    /// How long to wait between tries; default 2 [env: RETRY_PERIOD_SECONDS]
    #[arg(long, value_name = "SECONDS")]
    pub retry_period_seconds: Option<String>,

    /// Most hosts worked on at once; 0 for BMO_CONCURRENCY, else the number of CPUs between 2 and 8
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub controller_concurrency: i64,

    /// Attempts to provision an image before giving up; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true)]
    pub max_provisioning_retries: i64,

    /// Requests a second to the Kubernetes API; a negative number for no limit
    #[arg(long, value_name = "N", default_value_t = 20.0, allow_negative_numbers = true)]
    pub kube_api_qps: f64,

    /// Requests that may go out at once before that limit holds
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub kube_api_burst: u32,

    /// File with the cluster's address and credentials; else KUBECONFIG, the service account, ~/.kube/config
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Log for people, with debug messages, instead of JSON
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false",
          default_missing_value = "true", value_parser = parse_bool, action = ArgAction::Set)]
    pub dev: bool,

    /// Have images built that hosts boot before they are provisioned
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false",
          default_missing_value = "true", value_parser = parse_bool, action = ArgAction::Set)]
    pub build_preprov_image: bool,

    /// Serve HostClaims
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false",
          default_missing_value = "true", value_parser = parse_bool, action = ArgAction::Set)]
    pub hostclaims: bool,

    /// Lowest TLS version of the servers: TLS12 or TLS13
    #[arg(long, value_name = "VERSION", default_value = "TLS12")]
    pub tls_min_version: String,

    /// Highest TLS version of the servers: TLS12 or TLS13
    #[arg(long, value_name = "VERSION", default_value = "TLS13")]
    pub tls_max_version: String,

    /// Cipher suites of TLS 1.2, comma separated; none for the library's choice
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true)]
    pub tls_cipher_suites: String,

    /// Key exchange groups, comma separated; none for the library's choice
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true)]
    pub tls_curve_preferences: String,
}
