//! Flags as Go programs take them, for a clap command.
//!
//! Manifests of the operator write `-provisioner=demo`, `--provisioner demo`, `-dev`, `-dev=false`. Clap knows
//! only two dashes for long names, so arguments are brought into the one spelling `--name=value` first. That
//! needs no guessing: the command says which flags there are and which of them take a value, so that the value
//! of a flag is never taken for a flag.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// Flags of earlier releases that are gone, with what took their place.
const REMOVED: [(&str, &str); 4] = [
    ("demo-mode", "use -provisioner=demo"),
    ("test-mode", "use -provisioner=fixture"),
    ("ironic-name", "set the environment variable IRONIC_NAME"),
    (
        "ironic-namespace",
        "set the environment variable IRONIC_NAMESPACE",
    ),
];

/// A command line that cannot be understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// A flag of an earlier release.
    #[error("the flag -{flag} was removed: {instead}")]
    Removed {
        /// Its name.
        flag: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// No such flag.
    #[error("there is no flag -{flag}{}; -help lists those there are", similar.as_ref().map_or_else(String::new, |s| format!(" (did you mean -{s}?)")))]
    Unknown {
        /// What was written.
        flag: String,
        /// A flag that is spelt alike.
        similar: Option<String>,
    },
    /// A flag at the end of the line that needs a value.
    #[error("the flag -{flag} needs a value: -{flag}=VALUE")]
    NoValue {
        /// Its name.
        flag: String,
    },
    /// A value apart from its switch, which Go would take for the end of the flags.
    #[error("unexpected argument {argument:?} after the switch -{flag}: write -{flag}={argument}")]
    DetachedSwitchValue {
        /// The switch.
        flag: String,
        /// The word after it.
        argument: String,
    },
}

/// Rewrites `args` (without the program's name) to the spelling clap knows. Words that are no flags, and
/// everything after `--`, stay as they are. Flags are those of `command` and, once its name was met, of a
/// subcommand.
///
/// # Errors
/// See [`FlagError`].
pub fn normalize(
    command: &Command,
    args: impl IntoIterator<Item = OsString>,
) -> Result<Vec<OsString>, FlagError> {
    let mut current = command;
    let mut out = Vec::new();
    let mut args = args.into_iter().peekable();
    while let Some(word) = args.next() {
        let Some((name, value)) = word.to_str().and_then(split_flag) else {
            if word == "--" {
                out.push(word);
                out.extend(args);
                break;
            }
            if let Some(sub) = word.to_str().and_then(|w| current.find_subcommand(w)) {
                current = sub;
            }
            out.push(word);
            continue;
        };
        let (name, value) = (name.to_owned(), value.map(str::to_owned));
        let Some(switch) = kind_of(current, &name)? else {
            // Short flags of one letter are clap's.
            out.push(word);
            continue;
        };
        let value = match (value, switch) {
            (Some(value), _) => Some(value.into()),
            (None, Kind::Switch) => {
                refuse_detached(&name, args.peek())?;
                None
            }
            (None, Kind::Plain) => None,
            (None, Kind::Valued) => Some(args.next().ok_or(FlagError::NoValue { flag: name.clone() })?),
        };
        out.push(joined(&name, value));
    }
    Ok(out)
}

/// What a flag takes.
#[derive(Clone, Copy)]
enum Kind {
    /// `-x` or `-x=true`.
    Switch,
    /// Only `-x`.
    Plain,
    /// `-x=v` or `-x v`.
    Valued,
}

/// Splits `-name`, `--name`, each with or without `=value`.
fn split_flag(word: &str) -> Option<(&str, Option<&str>)> {
    let body = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    if body.is_empty() || body.starts_with(['-', '=']) {
        return None;
    }
    Some(
        body.split_once('=')
            .map_or((body, None), |(name, value)| (name, Some(value))),
    )
}

/// How the flag `name` is written; `None` for what clap is to see unchanged.
fn kind_of(command: &Command, name: &str) -> Result<Option<Kind>, FlagError> {
    if name == "help" || name == "version" {
        return Ok(Some(Kind::Plain));
    }
    if let Some(arg) = command.get_arguments().find(|arg| arg.get_long() == Some(name)) {
        return Ok(Some(kind(arg)));
    }
    if let Some((flag, instead)) = REMOVED.into_iter().find(|(flag, _)| *flag == name) {
        return Err(FlagError::Removed { flag, instead });
    }
    if name.chars().count() == 1 {
        return Ok(None);
    }
    Err(FlagError::Unknown {
        flag: name.to_owned(),
        similar: similar(command, name),
    })
}

fn kind(arg: &Arg) -> Kind {
    match arg.get_action() {
        ArgAction::Set | ArgAction::Append if arg.is_require_equals_set() => Kind::Switch,
        ArgAction::Set | ArgAction::Append => Kind::Valued,
        _ => Kind::Plain,
    }
}

/// `-dev true` would end the flags in Go, with all that follow silently ignored.
fn refuse_detached(flag: &str, next: Option<&OsString>) -> Result<(), FlagError> {
    match next.and_then(|word| word.to_str()) {
        Some(word) if parse_bool(word).is_ok() => Err(FlagError::DetachedSwitchValue {
            flag: flag.to_owned(),
            argument: word.to_owned(),
        }),
        _ => Ok(()),
    }
}

fn joined(name: &str, value: Option<OsString>) -> OsString {
    let mut word = OsString::from(format!("--{name}"));
    if let Some(value) = value {
        word.push("=");
        word.push(value);
    }
    word
}

/// The flag nearest to what was written, if any is near.
fn similar(command: &Command, name: &str) -> Option<String> {
    command
        .get_arguments()
        .filter_map(Arg::get_long)
        .map(|long| (distance(long, name), long))
        .min()
        .filter(|(distance, long)| *distance <= 1 + long.len() / 5)
        .map(|(_, long)| long.to_owned())
}

/// Number of letters to change, add or drop between two words.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

/// The texts Go takes for a boolean.
///
/// # Errors
/// A sentence that names them, for any other text.
pub fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!(
            "{text:?} is no boolean; write true or false (or 1, t, 0, f)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{Arg, ArgAction, Command};

    use super::{FlagError, normalize, parse_bool};

    fn command() -> Command {
        let switch = Arg::new("dev")
            .long("dev")
            .num_args(0..=1)
            .require_equals(true)
            .action(ArgAction::Set);
        Command::new("x")
            .arg(Arg::new("provisioner").long("provisioner"))
            .arg(switch.clone())
            .subcommand(
                Command::new("up")
                    .arg(Arg::new("data-dir").long("data-dir"))
                    .arg(switch),
            )
    }

    fn run(line: &str) -> Result<String, FlagError> {
        let words = normalize(&command(), line.split_whitespace().map(OsString::from))?;
        Ok(words
            .iter()
            .map(|w| w.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" "))
    }

    #[test]
    fn spellings() {
        let table = [
            ("-provisioner=demo", "--provisioner=demo"),
            ("--provisioner=demo", "--provisioner=demo"),
            ("-provisioner demo", "--provisioner=demo"),
            ("--provisioner demo -dev", "--provisioner=demo --dev"),
            ("-provisioner -dev", "--provisioner=-dev"),
            ("-dev=false", "--dev=false"),
            ("-dev -provisioner=x", "--dev --provisioner=x"),
            ("-help", "--help"),
            ("-h", "-h"),
            ("up -data-dir d -dev", "up --data-dir=d --dev"),
            ("-dev -- -provisioner", "--dev -- -provisioner"),
        ];
        for (line, expected) in table {
            assert_eq!(run(line).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn removed_flags_name_their_replacement() {
        for line in [
            "-demo-mode",
            "--test-mode=true",
            "-ironic-name ironic",
            "--ironic-namespace=x",
        ] {
            let Err(error @ FlagError::Removed { .. }) = run(line) else {
                panic!("{line} was accepted")
            };
            let text = error.to_string();
            assert!(
                text.contains("-provisioner=") || text.contains("IRONIC_NAME"),
                "{text}"
            );
        }
    }

    #[test]
    fn mistakes() {
        assert_eq!(
            run("-provisoner=x").unwrap_err().to_string(),
            "there is no flag -provisoner (did you mean -provisioner?); -help lists those there are"
        );
        assert_eq!(
            run("-frobnicate").unwrap_err(),
            FlagError::Unknown {
                flag: "frobnicate".into(),
                similar: None
            }
        );
        assert_eq!(
            run("-provisioner").unwrap_err(),
            FlagError::NoValue {
                flag: "provisioner".into()
            }
        );
        assert!(matches!(
            run("-dev true"),
            Err(FlagError::DetachedSwitchValue { .. })
        ));
    }

    #[test]
    fn booleans_as_in_go() {
        for text in ["1", "t", "T", "TRUE", "true", "True"] {
            assert_eq!(parse_bool(text), Ok(true));
        }
        for text in ["0", "f", "F", "FALSE", "false", "False"] {
            assert_eq!(parse_bool(text), Ok(false));
        }
        for text in ["", "yes", "no", "tRUE"] {
            assert!(parse_bool(text).is_err(), "{text}");
        }
    }
}
