//! What the manager is to do: flags and environment, checked.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::environment::Environment;
use crate::flags::ManagerFlags;
use crate::tls::{TlsError, TlsPolicy};

/// Everything the manager was told, checked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which namespaces it works in.
    pub namespaces: Namespaces,
    /// Name of the provisioner.
    pub provisioner: String,
    /// Where plugins are looked for.
    pub plugin_dir: PathBuf,
    /// Where provisioners find their own objects unless told otherwise; empty where unknown.
    pub provisioner_namespace: String,
    /// Address of the health endpoint.
    pub health_addr: Option<SocketAddr>,
    /// Address of the metrics endpoint.
    pub metrics_addr: Option<SocketAddr>,
    /// Port of the webhook server.
    pub webhook_port: Option<u16>,
    /// Whether and how one of several managers is chosen.
    pub leader_election: Option<LeaderElection>,
    /// Most hosts worked on at once.
    pub concurrency: usize,
    /// A note on how `concurrency` came about, for the log.
    pub concurrency_note: Option<String>,
    /// Attempts to provision an image; 0 for no limit.
    pub max_provisioning_retries: u32,
    /// Limit of requests to the Kubernetes API.
    pub kube_api_limit: Option<RequestLimit>,
    /// File with the cluster's address and credentials.
    pub kubeconfig: Option<PathBuf>,
    /// Log for people instead of JSON.
    pub dev: bool,
    /// Have preprovisioning images built.
    pub build_preprov_image: bool,
    /// Serve HostClaims.
    pub hostclaims: bool,
    /// TLS of the servers.
    pub tls: TlsPolicy,
}

/// Which namespaces are worked in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// The whole cluster.
    All,
    /// These.
    List(Vec<String>),
}

/// Choosing one of several managers through a Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    /// Namespace of the Lease.
    pub namespace: String,
    /// How long others wait after the last sign of life.
    pub lease_duration: Duration,
    /// How long the leader tries to renew.
    pub renew_deadline: Duration,
    /// How long between tries.
    pub retry_period: Duration,
}

/// A limit of requests in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestLimit {
    /// How many a second in the long run.
    pub per_second: f64,
    /// How many at once.
    pub burst: u32,
}

/// An option that cannot be used. Each message says what was found, what is expected and where it came from.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// An address cannot be read.
    #[error("-{flag}={value:?} is no address: expected host:port, :port for every interface, or 0 for none")]
    Address {
        /// The flag.
        flag: &'static str,
        /// What was written.
        value: String,
    },
    /// `-controller-concurrency` is negative.
    #[error("-controller-concurrency={0} is negative: expected 0 (choose) or a number of hosts")]
    NegativeConcurrency(i64),
    /// `BMO_CONCURRENCY` is no number.
    #[error("BMO_CONCURRENCY={0:?} is no whole number")]
    ConcurrencyVariable(String),
    /// `-max-provisioning-retries` is out of range.
    #[error("-max-provisioning-retries={0} is out of range: expected 0 (no limit) or a number of attempts")]
    Retries(i64),
    /// A number of seconds cannot be read.
    #[error("{name}={value:?} is no number of seconds: expected a whole number up to 32767")]
    Seconds {
        /// Flag or variable.
        name: &'static str,
        /// What was written.
        value: String,
    },
    /// The durations of leader election do not fit together.
    #[error(
        "leader election needs lease-duration-seconds > renew-deadline-seconds > 1.2 x retry-period-seconds, all above 0; they are {}, {} and {}",
        .0.lease_duration.as_secs(), .0.renew_deadline.as_secs(), .0.retry_period.as_secs()
    )]
    LeaseDurations(LeaderElection),
    /// There is no namespace for the Lease.
    #[error("leader election needs a namespace for its Lease: set POD_NAMESPACE or -namespace")]
    NoLeaseNamespace,
    /// TLS options that cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl Options {
    /// Checks flags together with the environment.
    ///
    /// # Errors
    /// The first option that cannot be used.
    pub fn new(flags: ManagerFlags, env: &Environment) -> Result<Self, OptionsError> {
        let namespace_text = flags
            .namespace
            .clone()
            .unwrap_or_else(|| env.get("WATCH_NAMESPACE").to_owned());
        let (concurrency, concurrency_note) = concurrency(flags.controller_concurrency, env)?;
        let leader_election = flags
            .enable_leader_election
            .then(|| leader_election(&flags, env, &namespace_text))
            .transpose()?;
        Ok(Self {
            namespaces: Namespaces::parse(&namespace_text),
            plugin_dir: env
                .non_empty("PROVISIONER_PLUGIN_DIR")
                .unwrap_or("/plugins")
                .into(),
            provisioner_namespace: env
                .non_empty("POD_NAMESPACE")
                .unwrap_or(&namespace_text)
                .to_owned(),
            provisioner: flags.provisioner,
            health_addr: address("health-addr", &flags.health_addr)?,
            metrics_addr: address("metrics-addr", &flags.metrics_addr)?,
            webhook_port: Some(flags.webhook_port).filter(|port| *port != 0),
            leader_election,
            concurrency,
            concurrency_note,
            max_provisioning_retries: u32::try_from(flags.max_provisioning_retries)
                .map_err(|_| OptionsError::Retries(flags.max_provisioning_retries))?,
            kube_api_limit: RequestLimit::new(flags.kube_api_qps, flags.kube_api_burst),
            kubeconfig: flags.kubeconfig,
            dev: flags.dev,
            build_preprov_image: flags.build_preprov_image,
            hostclaims: flags.hostclaims,
            tls: TlsPolicy::new(
                &flags.tls_min_version,
                &flags.tls_max_version,
                &flags.tls_cipher_suites,
                &flags.tls_curve_preferences,
            )?,
        })
    }
}

impl Namespaces {
    /// Names with commas between them, taken as they are; an empty text is the whole cluster.
    fn parse(text: &str) -> Self {
        if text.is_empty() {
            Self::All
        } else {
            Self::List(text.split(',').map(str::to_owned).collect())
        }
    }
}

impl RequestLimit {
    /// The limit of Go's client: 0 means its default of 5, a negative number none.
    fn new(per_second: f64, burst: u32) -> Option<Self> {
        match per_second {
            qps if qps < 0.0 || !qps.is_finite() => None,
            0.0 => Some(Self {
                per_second: 5.0,
                burst: burst.max(1),
            }),
            qps => Some(Self {
                per_second: qps,
                burst: burst.max(1),
            }),
        }
    }
}

/// An address as Go programs take it: `:port` is every interface, `0` or nothing is none.
fn address(flag: &'static str, text: &str) -> Result<Option<SocketAddr>, OptionsError> {
    if text.is_empty() || text == "0" {
        return Ok(None);
    }
    let wrong = || OptionsError::Address {
        flag,
        value: text.to_owned(),
    };
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let port: u16 = port.parse().map_err(|_| wrong())?;
    let ip = match host.trim_start_matches('[').trim_end_matches(']') {
        "" => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        "localhost" => IpAddr::from([127, 0, 0, 1]),
        host => host.parse().map_err(|_| wrong())?,
    };
    Ok(Some(SocketAddr::new(ip, port)))
}

/// How many hosts are worked on at once: the flag, else the variable, else by the number of CPUs.
fn concurrency(flag: i64, env: &Environment) -> Result<(usize, Option<String>), OptionsError> {
    if flag < 0 {
        return Err(OptionsError::NegativeConcurrency(flag));
    }
    if let Some(wanted) = usize::try_from(flag).ok().filter(|n| *n > 0) {
        return Ok((wanted, None));
    }
    let by_cpus = std::thread::available_parallelism()
        .map_or(2, usize::from)
        .clamp(2, 8);
    let Some(text) = env.non_empty("BMO_CONCURRENCY") else {
        return Ok((by_cpus, None));
    };
    let wanted: i64 = text
        .parse()
        .map_err(|_| OptionsError::ConcurrencyVariable(text.to_owned()))?;
    match usize::try_from(wanted) {
        Ok(wanted) if wanted > 0 => Ok((wanted, None)),
        _ => Ok((
            by_cpus,
            Some(format!("BMO_CONCURRENCY={wanted} is not above 0 and was ignored")),
        )),
    }
}

fn leader_election(
    flags: &ManagerFlags,
    env: &Environment,
    watched: &str,
) -> Result<LeaderElection, OptionsError> {
    let setting = |flag: &Option<String>, name, variable, default| {
        let text = flag.as_deref().unwrap_or_else(|| env.get(variable));
        seconds(name, text, default)
    };
    let election = LeaderElection {
        namespace: env.non_empty("POD_NAMESPACE").unwrap_or(watched).to_owned(),
        lease_duration: setting(
            &flags.lease_duration_seconds,
            "lease-duration-seconds",
            "LEASE_DURATION_SECONDS",
            15,
        )?,
        renew_deadline: setting(
            &flags.renew_deadline_seconds,
            "renew-deadline-seconds",
            "RENEW_DEADLINE_SECONDS",
            10,
        )?,
        retry_period: setting(
            &flags.retry_period_seconds,
            "retry-period-seconds",
            "RETRY_PERIOD_SECONDS",
            2,
        )?,
    };
    if election.namespace.is_empty() {
        return Err(OptionsError::NoLeaseNamespace);
    }
    let fits = election.lease_duration > election.renew_deadline
        && election.renew_deadline > election.retry_period.mul_f64(1.2)
        && !election.retry_period.is_zero();
    if fits {
        Ok(election)
    } else {
        Err(OptionsError::LeaseDurations(election))
    }
}

/// A whole number of seconds that fits 16 bits with sign; nothing is the default.
fn seconds(name: &'static str, text: &str, default: u64) -> Result<Duration, OptionsError> {
    if text.is_empty() {
        return Ok(Duration::from_secs(default));
    }
    let number: i16 = text.parse().map_err(|_| OptionsError::Seconds {
        name,
        value: text.to_owned(),
    })?;
    Ok(Duration::from_secs(u64::try_from(number).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{Namespaces, Options, OptionsError};
    use crate::flags::ManagerFlags;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: ManagerFlags,
    }

    fn options(args: &[&str], env: &[(&str, &str)]) -> Result<Options, OptionsError> {
        let line = Line::try_parse_from(std::iter::once("x").chain(args.iter().copied())).unwrap();
        Options::new(line.flags, &env.iter().copied().collect())
    }

    #[test]
    fn defaults_are_upstreams() {
        let options = options(&[], &[]).unwrap();
        assert_eq!(options.namespaces, Namespaces::All);
        assert_eq!(options.provisioner, "ironic");
        assert_eq!(options.plugin_dir.to_str(), Some("/plugins"));
        assert_eq!(options.health_addr.unwrap().to_string(), "[::]:9440");
        assert_eq!(options.metrics_addr.unwrap().to_string(), "[::]:8443");
        assert_eq!(options.webhook_port, Some(9443));
        assert_eq!(options.leader_election, None);
        assert_eq!(options.max_provisioning_retries, 5);
        let limit = options.kube_api_limit.unwrap();
        assert!((limit.per_second - 20.0).abs() < f64::EPSILON && limit.burst == 30);
        assert!((2..=8).contains(&options.concurrency));
    }

    #[test]
    fn namespaces_and_where_the_provisioner_looks() {
        type Row<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], Namespaces, &'a str);
        let table: [Row<'_>; 5] = [
            (
                &[],
                &[("WATCH_NAMESPACE", "a")],
                Namespaces::List(vec!["a".into()]),
                "a",
            ),
            (
                &["--namespace=b"],
                &[("WATCH_NAMESPACE", "a")],
                Namespaces::List(vec!["b".into()]),
                "b",
            ),
            (
                &["--namespace=a,b, c"],
                &[],
                Namespaces::List(vec!["a".into(), "b".into(), " c".into()]),
                "a,b, c",
            ),
            (
                &["--namespace="],
                &[("WATCH_NAMESPACE", "a"), ("POD_NAMESPACE", "p")],
                Namespaces::All,
                "p",
            ),
            (&[], &[("POD_NAMESPACE", "p")], Namespaces::All, "p"),
        ];
        for (args, env, namespaces, provisioner_namespace) in table {
            let options = options(args, env).unwrap();
            assert_eq!(options.namespaces, namespaces);
            assert_eq!(options.provisioner_namespace, provisioner_namespace);
        }
    }

    #[test]
    fn concurrency_rules() {
        assert_eq!(
            options(&["--controller-concurrency=3"], &[("BMO_CONCURRENCY", "x")])
                .unwrap()
                .concurrency,
            3
        );
        assert_eq!(
            options(&[], &[("BMO_CONCURRENCY", "12")]).unwrap().concurrency,
            12
        );
        let ignored = options(&[], &[("BMO_CONCURRENCY", "-1")]).unwrap();
        assert!((2..=8).contains(&ignored.concurrency) && ignored.concurrency_note.is_some());
        assert!(matches!(
            options(&[], &[("BMO_CONCURRENCY", "many")]),
            Err(OptionsError::ConcurrencyVariable(_))
        ));
        assert!(matches!(
            options(&["--controller-concurrency=-1"], &[]),
            Err(OptionsError::NegativeConcurrency(-1))
        ));
    }

    #[test]
    fn leader_election_settings() {
        let on = "--enable-leader-election";
        let pod = ("POD_NAMESPACE", "p");
        let seconds = |env: &[(&str, &str)]| {
            let e = options(&[on], env).unwrap().leader_election.unwrap();
            [e.lease_duration, e.renew_deadline, e.retry_period].map(|d| d.as_secs())
        };
        assert_eq!(seconds(&[pod]), [15, 10, 2]);
        assert_eq!(
            seconds(&[
                pod,
                ("LEASE_DURATION_SECONDS", "60"),
                ("RENEW_DEADLINE_SECONDS", "40")
            ]),
            [60, 40, 2]
        );
        assert!(matches!(options(&[on], &[]), Err(OptionsError::NoLeaseNamespace)));
        for bad in ["32768", "abc", "1.5"] {
            let env = [pod, ("LEASE_DURATION_SECONDS", bad)];
            assert!(
                matches!(options(&[on], &env), Err(OptionsError::Seconds { .. })),
                "{bad}"
            );
        }
        let args = [on, "--lease-duration-seconds=5", "--renew-deadline-seconds=10"];
        assert!(matches!(
            options(&args, &[pod]),
            Err(OptionsError::LeaseDurations(_))
        ));
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for arg in [
            "--health-addr=nowhere",
            "--metrics-addr=host:99999",
            "--tls-min-version=TLS11",
            "--max-provisioning-retries=-1",
        ] {
            assert!(options(&[arg], &[]).is_err(), "{arg}");
        }
        let off = options(
            &[
                "--health-addr=0",
                "--metrics-addr=0",
                "--webhook-port=0",
                "--kube-api-qps=-1",
            ],
            &[],
        )
        .unwrap();
        assert!(off.health_addr.is_none() && off.metrics_addr.is_none());
        assert!(off.webhook_port.is_none() && off.kube_api_limit.is_none());
    }
}
